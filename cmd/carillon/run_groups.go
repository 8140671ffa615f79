package main

import (
	"context"
	"fmt"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/rungroup"
)

// listGroups prints the groups of the runs that the flags select.
func (c *runListCmd) listGroups(ctx context.Context, con *console, r *remote) error {
	g := rungroup.New(c.Group == "error")
	for run, err := range r.Runs(ctx, client.RunListRequest{Job: c.Job, From: c.From.Time, To: c.To.Time, Status: c.Status, Limit: pageSize(0)}) {
		if err != nil {
			return r.orSimilar(ctx, c.Job, err)
		}
		g.Add(&run)
	}
	shown := g.Sorted(c.rows(c.Limit))
	if c.isDocument() {
		return c.print(con, struct {
			Groups []*rungroup.Group `json:"groups"`
			Others int               `json:"runs_of_other_groups"`
		}{shown, g.Others})
	}
	titles := []string{"RUNS", "JOB", "FIRST", "LAST", "LATEST RUN"}
	if c.Group == "error" {
		titles = append(titles, "ERROR")
	}
	t := con.table(titles...)
	for _, one := range shown {
		t.Row(append([]string{fmt.Sprint(one.Runs), one.Job, showTime(one.FirstAt), showTime(one.LastAt), one.RunID}, one.Error)[:len(titles)]...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if left := g.Len() - len(shown); left > 0 {
		con.notef("%s more; --limit 0 shows all\n", plural(left, "group"))
	}
	if g.Others > 0 {
		con.notef("%s more in other groups than the first %d; choose fewer by --from, --to or a job\n", plural(g.Others, "run"), rungroup.GroupsMax)
	}
	return nil
}
