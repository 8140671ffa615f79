package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/client"
)

// jobCmd groups the commands for jobs. The order is that of --help: the usual life of a job.
type jobCmd struct {
	Put      jobPutCmd      `cmd:"" help:"Register a job, or replace the one of that name."`
	Set      jobSetCmd      `cmd:"" help:"Change single members of a job."`
	Edit     jobEditCmd     `cmd:"" help:"Change a job in an editor."`
	Get      jobGetCmd      `cmd:"" help:"Show a job."`
	List     jobListCmd     `cmd:"" help:"List jobs."`
	Delete   jobDeleteCmd   `cmd:"" help:"Delete jobs."`
	Pause    jobPauseCmd    `cmd:"" help:"Pause a job."`
	Resume   jobResumeCmd   `cmd:"" help:"Resume a job."`
	Trigger  jobTriggerCmd  `cmd:"" help:"Run a job now."`
	Backfill jobBackfillCmd `cmd:"" help:"Run a job for past ticks."`
	Next     jobNextCmd     `cmd:"" help:"Show when a job, or a schedule, runs next."`
}

// Help is what `carillon job --help` says besides the commands.
func (*jobCmd) Help() string {
	return `Examples:

  carillon job put hello --schedule '@every 10s' --target nats:hello --payload '{"n":1}'
  carillon job set hello schedule='@every 1m'
  carillon job list --name-prefix reports/
  carillon job pause hello --reason 'not now'
  carillon job next --schedule '0 8 * * 1-5' --timezone Europe/Berlin`
}

// jobGetCmd shows a job. --watch asks again for the whole job, at the interval of the flag.
type jobGetCmd struct {
	Name            string `arg:"" help:"Name of the job." complete:"@jobs"`
	WithCredentials bool   `help:"Show credentials (headers such as Authorization, tokens in URLs) in clear; they are masked otherwise."`
	remoteFlags
	outputFlag
	watchFlag
}

// Help is what `carillon job get --help` says besides the flags.
func (*jobGetCmd) Help() string {
	return `What is shown can be put again: a masked credential stays as it is.

Examples:

  carillon job get reports/daily
  carillon job get reports/daily -o json | jq .job.payload
  carillon job get reports/daily --watch`
}

// Run implements the command.
func (c *jobGetCmd) Run(ctx context.Context, con *console) error {
	return c.lookAt(ctx, con, &c.remoteFlags, c.Output, func(con *console, r *remote) error {
		j, err := r.get(ctx, c.Name, c.WithCredentials)
		if err != nil {
			return r.orSimilar(ctx, c.Name, err)
		}
		if c.isDocument() {
			return c.print(con, client.JobReply{Job: j})
		}
		return con.printJob(&j, r.skippedLast(ctx, &j))
	})
}

// jobDeleteCmd deletes jobs.
type jobDeleteCmd struct {
	Names     []string `arg:"" name:"name" help:"Names of the jobs." complete:"@jobs"`
	IfVersion *uint32  `help:"Only if the job is at this version; for one job only." placeholder:"N"`
	remoteFlags
	outputFlag
}

// Help is what `carillon job delete --help` says besides the flags.
func (*jobDeleteCmd) Help() string {
	return `Attempts that a target already has are not called back; nothing is launched after the deletion.

Examples:

  carillon job delete reports/daily
  carillon job delete old/1 old/2
  carillon job delete reports/daily --if-version 7`
}

// Validate is called by the parser. It refuses a version together with several jobs.
func (c *jobDeleteCmd) Validate() error {
	if c.IfVersion != nil && len(c.Names) > 1 {
		return errors.New("--if-version is the version of one job; want one name with it")
	}
	return nil
}

// Run implements the command. A name that fails does not stop the others; the errors are returned together.
func (c *jobDeleteCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	var errs []error
	for _, name := range c.Names {
		runs, err := c.delete(ctx, r.Client, name)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", name, r.orSimilar(ctx, name, err)))
		case c.isDocument():
			// Each deletion is a document of its own, so that a failure in between leaves those before it.
			errs = append(errs, c.print(con, client.DeleteReply{Deleted: true, Runs: runs}))
		default:
			con.printf("deleted %s%s\n", name, showDeletedRuns(runs))
		}
	}
	return errors.Join(errs...)
}

// delete deletes one job, if it is at the version of the flag when that is given.
func (c *jobDeleteCmd) delete(ctx context.Context, r *client.Client, name string) (client.DeletedRuns, error) {
	if c.IfVersion != nil {
		return r.DeleteIfVersion(ctx, name, *c.IfVersion)
	}
	return r.Delete(ctx, name)
}

// showDeletedRuns says what happened to the runs of a deleted job; "" if it had none.
func showDeletedRuns(runs client.DeletedRuns) (text string) {
	if runs.Cancelled > 0 {
		text += ", " + plural(runs.Cancelled, "run") + " cancelled"
	}
	if runs.Running > 0 {
		text += ", " + plural(runs.Running, "run") + " still with the target"
	}
	return text
}
