package main

import (
	"context"
	"fmt"
	"io"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// runExport writes runs page by page. It holds one page of runs at a time.
type runExport struct {
	*exportCmd
	remote *remote
	// out is shared by all jobs, so the runs of all of them are one stream.
	out      *output
	progress *terminal.Progress
	// n is the number of runs that were written, for the progress and for the message of a failure.
	n int
}

// exportRuns writes the runs of the jobs that the flags select.
func (c *exportCmd) exportRuns(ctx context.Context, con *console, r *remote, w io.Writer) error {
	e := &runExport{exportCmd: c, remote: r, out: con.bufferedTo(w), progress: con.newStreamProgress("run", "exported")}
	if err := e.jobs(ctx); err != nil {
		_ = e.out.flush()
		return r.orSimilar(ctx, c.Job, fmt.Errorf("export, after %s: %w", plural(e.n, "run"), err))
	}
	e.progress.End(int64(e.n))
	return e.out.flush()
}

// jobs writes the runs of --job, or of each job that the flags select. The runs of a job come newest first, as the API
// lists them.
func (e *runExport) jobs(ctx context.Context) error {
	if e.Job != "" {
		return e.runs(ctx, e.Job)
	}
	for j, err := range e.remote.Jobs(ctx, e.request()) {
		if err != nil {
			return err
		}
		// A job that was deleted after it was listed is not found: its runs cannot be read.
		if err := e.runs(ctx, j.Name); err != nil && !client.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// runs writes the runs of one job.
func (e *runExport) runs(ctx context.Context, job string) error {
	query := client.RunListRequest{Job: job, From: e.From.Time, To: e.To.Time, Attempts: true, Limit: pageSize(0)}
	for run, err := range e.remote.Runs(ctx, query) {
		if err == nil {
			err = e.out.printRecord(e.Output, run)
		}
		if err != nil {
			return err
		}
		e.n++
		e.progress.Of(int64(e.n), 0)
	}
	return nil
}
