package main

import (
	"context"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// heldRunFlags identify an attempt that a worker is working on. The fence comes with the delivery; it proves that the
// worker has the present attempt and not an earlier one.
type heldRunFlags struct {
	RunID string `arg:"" name:"run-id" help:"The run's id, as the header Carillon-Run-Id has it." complete:"@live-runs"`
	Fence uint64 `help:"The attempt's fence, as the header Carillon-Fence has it." required:"" placeholder:"N"`
}

// runReportCmd reports the outcome of a run to the server. It may be repeated: the same report of the same attempt
// succeeds again.
type runReportCmd struct {
	heldRunFlags
	Status client.Outcome `arg:"" help:"${enum}." enum:"succeeded,failed"`
	Result string         `help:"The result, with succeeded; at most 512 bytes." placeholder:"TEXT"`
	Error  string         `help:"Why it failed, with failed; at most 512 bytes." placeholder:"TEXT"`
	remoteFlags
	outputFlag
}

// Help is what `carillon run report --help` says besides the flags.
func (*runReportCmd) Help() string {
	return `For runs of jobs with completion "reported". A report with an old fence is refused: another attempt of the run has begun since.

Examples:

  carillon run report 0k5s0v8s2m1q4-1764576000000 succeeded --fence 4711 --result '5 rows'
  carillon run report 0k5s0v8s2m1q4-1764576000000 failed --fence 4711 --error 'no disk'`
}

// Run implements the command.
func (c *runReportCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	run, err := r.Report(ctx, client.ReportRequest{RunID: c.RunID, Fence: c.Fence, Status: c.Status, Result: c.Result, Error: c.Error})
	if err != nil {
		return err
	}
	return con.printRunState(&run, c.Output)
}

// printRunState prints the state of a run after a change.
func (c *console) printRunState(r *client.Run, form outputForm) error {
	if form != formTable {
		return c.printDocument(form, client.RunReply{Run: *r})
	}
	next := ""
	if r.Status == "retrying" && !r.DueAt.IsZero() {
		next = ", next attempt " + showDistance(time.Until(r.DueAt.Time))
	}
	c.printf("run %s of %s, %s%s\n", r.RunID, r.Job, markup(c.screen.Paint(statusStyle(r.Status), terminal.Printable(runStatus(r)))), next)
	return nil
}

// runExtendCmd moves the deadline of an attempt.
type runExtendCmd struct {
	heldRunFlags
	For span `help:"How long from now, at most 24h." required:"" placeholder:"SPAN"`
	remoteFlags
	outputFlag
}

// Help is what `carillon run extend --help` says besides the flags.
func (*runExtendCmd) Help() string {
	return `Examples:

  carillon run extend 0k5s0v8s2m1q4-1764576000000 --fence 4711 --for 10m`
}

// Run implements the command.
func (c *runExtendCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	deadline, err := r.Extend(ctx, c.RunID, c.Fence, time.Duration(c.For))
	if err != nil {
		return err
	}
	if c.isDocument() {
		return c.print(con, client.ExtendReply{Deadline: deadline})
	}
	con.printf("run %s may be reported until %s (%s)\n", c.RunID, showTime(deadline), showDistance(time.Until(deadline.Time)))
	return nil
}
