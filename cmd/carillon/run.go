package main

// runCmd groups the commands for runs. report and extend are for workers in shell scripts; others use the API.
type runCmd struct {
	List    runListCmd    `cmd:"" help:"List the runs of a job, newest first, or the dead runs of all jobs."`
	Get     runGetCmd     `cmd:"" help:"Show a run with its attempts."`
	Report  runReportCmd  `cmd:"" help:"Report the outcome of a run, for its worker."`
	Extend  runExtendCmd  `cmd:"" help:"Give a worker more time to report."`
	Cancel  runCancelCmd  `cmd:"" help:"Cancel runs that are not over."`
	Retry   runRetryCmd   `cmd:"" help:"Start another attempt of dead or cancelled runs."`
	Dismiss runDismissCmd `cmd:"" help:"Mark dead runs as dealt with: they are kept, and no longer listed as dead."`
}

// Help is what `carillon run --help` says besides the commands.
func (*runCmd) Help() string {
	return `Examples:

  carillon run list reports/daily
  carillon run list --dead
  carillon run retry --dead --job reports/daily
  carillon run report 0k5s0v8s2m1q4-1764576000000 succeeded --fence 4711 --result '5 rows'`
}
