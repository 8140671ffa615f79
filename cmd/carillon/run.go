package main

// runCmd groups the commands on runs.
type runCmd struct {
	List   runListCmd   `cmd:"" help:"List the runs of a job, newest first, or the dead runs of all jobs."`
	Get    runGetCmd    `cmd:"" help:"Show a run with its attempts."`
	Report runReportCmd `cmd:"" help:"Tell what became of a run that a worker has."`
	Extend runExtendCmd `cmd:"" help:"Give a worker more time to report."`
	Cancel runCancelCmd `cmd:"" help:"End runs that are not over."`
	Retry  runRetryCmd  `cmd:"" help:"Let dead or cancelled runs begin another attempt."`
}

// Help is what `carillon run --help` says besides the commands.
func (*runCmd) Help() string {
	return `Examples:

  carillon run list reports/daily
  carillon run list --dead
  carillon run retry --dead --job reports/daily
  carillon run report 0k5s0v8s2m1q4-1764576000000 succeeded --fence 4711 --result '5 rows'`
}
