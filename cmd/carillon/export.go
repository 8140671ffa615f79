package main

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/client"
)

// exportCmd writes jobs, or their runs, as JSON lines or as YAML documents. Its form does not follow
// CARILLON_OUTPUT: what a script exports, another one imports.
type exportCmd struct {
	selectFlags
	Runs bool    `help:"The runs of the jobs instead of the jobs, each with its attempts."`
	Job  string  `help:"With --runs: only those of this job." placeholder:"NAME" complete:"@jobs"`
	From instant `help:"With --runs: scheduled at or after this time." placeholder:"TIME"`
	To   instant `help:"With --runs: scheduled before this time." placeholder:"TIME"`
	remoteFlags

	Output outputForm `short:"o" help:"Form of what is written: ${enum}." enum:"json,yaml" default:"json"`
}

// Help is what `carillon export --help` says besides the flags.
func (*exportCmd) Help() string {
	return `Each job is one line in the order of names, and import takes it unchanged. With -o yaml each is one document, and apply takes them. With --runs each run is one line, job by job, the newest first; how far it is goes to stderr. What only the server keeps (ids, versions, runs) is left out. A server that goes on meanwhile is no obstacle; a job that changes while it is exported is there as it was before or after.

Examples:

  carillon export > jobs.jsonl
  carillon export -o yaml > jobs.yaml
  carillon export --runs --from 2026-11-01 > runs.jsonl
  carillon export --label team=billing | carillon import - --server nats://other:4222`
}

// Run implements the command.
func (c *exportCmd) Run(ctx context.Context, con *console) error {
	if !c.Runs && (c.Job != "" || !c.From.IsZero() || !c.To.IsZero()) {
		return usagef("--job, --from and --to select runs: give --runs, or --name-prefix for jobs")
	}
	if c.Job != "" && (c.NamePrefix != "" || len(c.Label) > 0 || c.Status != "") {
		return usagef("--job is one job: leave out --name-prefix, --label and --status")
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	if c.Runs {
		return c.exportRuns(ctx, con, r)
	}
	return c.exportJobs(ctx, con, r)
}

func (c *exportCmd) exportJobs(ctx context.Context, con *console, r *remote) error {
	out, told := con.buffered(), newProgress(con, "job", "exported").besideOutput()
	n := 0
	for j, err := range r.Jobs(ctx, c.request()) {
		if err == nil && j.PayloadOmitted {
			j, err = r.Get(ctx, j.Name)
		}
		if err == nil && j.PayloadOmitted {
			err = fmt.Errorf("%s: its payload does not fit one NATS message; raise the limit of the NATS server (max_payload)", j.Name)
		}
		if err == nil {
			err = out.printRecord(c.Output, ownersPart(&j), ownerOptions)
		}
		if err != nil {
			_ = out.flush()
			return fmt.Errorf("export, after %s: %w", plural(n, "job"), err)
		}
		n++
		told.tell(n)
	}
	con.clearBar()
	return out.flush()
}

// ownersPart is a job without what the server keeps beside it and without empty lists.
func ownersPart(j *client.JobInfo) *client.Job {
	if len(j.Headers) == 0 {
		j.Headers = nil
	}
	if len(j.Labels) == 0 {
		j.Labels = nil
	}
	return &j.Job
}
