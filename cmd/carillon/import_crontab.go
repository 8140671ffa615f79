package main

import (
	"cmp"
	"context"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/crontab"
)

// workerTarget is where the runs of a crontab go: to the worker of one machine, as those of cron do.
const workerTarget = "request:cron.{{host}}.{{name}}"

// workerAttemptTimeout is how long a worker may take to accept a run and to confirm it. From then on its heartbeats extend
// the run.
const workerAttemptTimeout = span(time.Minute)

// crontabPolicyFlags are the flags for the policies of the jobs of a crontab. They have the names of those of `job put`.
type crontabPolicyFlags struct {
	Completion     string `help:"When a run of a crontab is over: delivered or reported; reported for a worker, else delivered." placeholder:"HOW" complete:"delivered,reported" group:"policies"`
	AttemptTimeout span   `help:"How long a worker may take to accept a run; 1m for a worker, else 30s. Its heartbeats extend it." placeholder:"SPAN" group:"policies"`
	MaxAttempts    uint32 `help:"Attempts of a run, the first included; 1 for a worker, else 3." placeholder:"N" group:"policies"`
	Overlap        string `help:"When the previous run is still in progress: allow, skip, buffer_one, buffer_all or cancel_other; skip if left out." placeholder:"POLICY" complete:"allow,skip,buffer_one,buffer_all,cancel_other" group:"policies"`
	Missed         string `help:"What to do with missed runs: skip, fire_once or backfill; fire_once if left out." placeholder:"POLICY" complete:"skip,fire_once,backfill" group:"policies"`
	PauseOnFailure uint32 `help:"Pause a job after this number of dead runs in a row; 0 is never." placeholder:"N" group:"policies"`
}

// setJob sets the policies of a job of a crontab. Those of a worker are safe as they are: a command that may have run is
// not started again, and not beside itself.
func (c *importCmd) setJob(j *client.Job) {
	if c.isForWorker {
		j.Completion, j.AttemptTimeout, j.Retry.MaxAttempts, j.OverlapPolicy = "reported", client.Duration(workerAttemptTimeout), 1, "skip"
	}
	j.Completion = cmp.Or(c.Completion, j.Completion)
	j.AttemptTimeout = cmp.Or(client.Duration(c.AttemptTimeout), j.AttemptTimeout)
	j.Retry.MaxAttempts = cmp.Or(c.MaxAttempts, j.Retry.MaxAttempts)
	j.OverlapPolicy = cmp.Or(c.Overlap, j.OverlapPolicy)
	j.MissedRunPolicy, j.PauseOnFailure = c.Missed, c.PauseOnFailure
}

// pausedJobs keeps jobs paused that are imported again. A crontab does not say whether a job is paused, so its import must not
// undo what an operator or a series of failures has done. The zero value keeps none.
type pausedJobs struct {
	client *client.Client // nil: the import says itself which jobs are paused
	kept   int
}

// keeping returns a yield that passes jobs on as paused if they are. A job that cannot be read is passed on as it is; what is
// wrong is told by its registration.
func (p *pausedJobs) keeping(ctx context.Context, yield func(client.Job) bool) func(client.Job) bool {
	if p.client == nil {
		return yield
	}
	return func(j client.Job) bool {
		if now, err := p.client.Get(ctx, j.Name); err == nil && now.Status == "paused" {
			j.Paused = true
			p.kept++
		}
		return yield(j)
	}
}

// isThere returns a function that reports whether the server has a job of a name with a target, for a user. A job that cannot be read counts as
// missing; what is wrong is told by its registration.
func (r *remote) isThere(ctx context.Context) func(string, client.Target, string) bool {
	return func(name string, target client.Target, user string) bool {
		j, err := r.Client.Get(ctx, name)
		return err == nil && j.Target.Kind == target.Kind && j.Target.Subject == target.Subject && j.Target.URL == target.URL && userOf(&j) == user
	}
}

// checkSameNames refuses two crontabs whose jobs would have the same names, so that one would replace those of the other.
func checkSameNames(files []string) error {
	seen := make(map[string]string)
	for _, file := range files {
		name := crontab.NewNames(file).File()
		if other, ok := seen[name]; ok {
			return usagef("%s and %s: the jobs of both would be named %s/…, and one file would replace the jobs of the other; want files of different names", showFile(other), showFile(file), name)
		}
		seen[name] = file
	}
	return nil
}

// crontabOnly returns a flag that was given and means something for crontabs alone; "": there is none.
func (c *importCmd) crontabOnly() string {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--target", c.Target != ""}, {"--host", c.Host != ""}, {"--user", c.User != ""}, {"--completion", c.Completion != ""}, {"--attempt-timeout", c.AttemptTimeout != 0},
		{"--max-attempts", c.MaxAttempts != 0}, {"--overlap", c.Overlap != ""}, {"--missed", c.Missed != ""}, {"--pause-on-failure", c.PauseOnFailure != 0},
	} {
		if flag.given {
			return flag.name
		}
	}
	return ""
}
