package main

import (
	"context"

	"github.com/carillon-io/carillon/client"
)

// pauseFlags are the flags of pause and resume. A reason is optional. It is kept with the job until the next change
// of its state.
type pauseFlags struct {
	Name      string  `arg:"" help:"Name of the job." complete:"@jobs"`
	Reason    string  `help:"Why; shown with the job."`
	IfVersion *uint32 `help:"Only if the job is at this version." placeholder:"N"`
	remoteFlags
	outputFlag
}

// jobPauseCmd pauses a job.
type jobPauseCmd struct{ pauseFlags }

// Help is what `carillon job pause --help` says besides the flags.
func (*jobPauseCmd) Help() string {
	return `Runs that are not launched yet are withdrawn; attempts that a target already has go on.

Examples:

  carillon job pause reports/daily --reason 'month end'
  carillon job pause reports/daily --if-version 7`
}

// Run implements the command.
func (c *jobPauseCmd) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, "paused", (*client.Client).Pause, (*client.Client).PauseIfVersion)
}

// jobResumeCmd resumes a job.
type jobResumeCmd struct{ pauseFlags }

// Help is what `carillon job resume --help` says besides the flags.
func (*jobResumeCmd) Help() string {
	return `Examples:

  carillon job resume reports/daily`
}

// Run implements the command.
func (c *jobResumeCmd) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, "resumed", (*client.Client).Resume, (*client.Client).ResumeIfVersion)
}

// change calls the method of the client that pauses or resumes the job: callIf if a version is given, else call. Done
// is the verb of the message. Pause and resume differ in the methods alone, which are therefore parameters.
func (c *pauseFlags) change(
	ctx context.Context, con *console, done string,
	call func(c *client.Client, ctx context.Context, name, reason string) (client.JobInfo, error),
	callIf func(c *client.Client, ctx context.Context, name, reason string, version uint32) (client.JobInfo, error),
) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	var j client.JobInfo
	if c.IfVersion != nil {
		j, err = callIf(r.Client, ctx, c.Name, c.Reason, *c.IfVersion)
	} else {
		j, err = call(r.Client, ctx, c.Name, c.Reason)
	}
	if err != nil {
		return r.orSimilar(ctx, c.Name, err)
	}
	if c.isDocument() {
		return c.print(con, client.JobReply{Job: j})
	}
	con.printf("%s %s, next run %s\n", done, j.Name, showNext(&j))
	return nil
}
