package main

import (
	"context"
	"fmt"
	"io"

	"github.com/carillon-io/carillon/client"
)

// runExport writes runs as they come, page by page.
type runExport struct {
	*exportCmd
	remote   *remote
	out      *output
	progress *progress
	n        int
}

// exportRuns writes the runs of the jobs that the flags select.
func (c *exportCmd) exportRuns(ctx context.Context, con *console, r *remote, w io.Writer) error {
	e := &runExport{exportCmd: c, remote: r, out: con.bufferedTo(w), progress: newProgress(con, "run", "exported").besideOutput()}
	if err := e.jobs(ctx); err != nil {
		_ = e.out.flush()
		return fmt.Errorf("export, after %s: %w", plural(e.n, "run"), err)
	}
	e.progress.end(e.n)
	return e.out.flush()
}

func (e *runExport) jobs(ctx context.Context) error {
	if e.Job != "" {
		return e.runs(ctx, e.Job)
	}
	for j, err := range e.remote.Jobs(ctx, e.request()) {
		if err != nil {
			return err
		}
		// A job that has been deleted since it was listed has no runs any more that could be asked for.
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
		e.progress.tell(e.n)
	}
	return nil
}
