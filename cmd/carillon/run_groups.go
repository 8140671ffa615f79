package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/carillon-io/carillon/client"
)

// runGroup is what the runs of a job have in common that ended for the same cause. It is an element of a document.
type runGroup struct {
	Job     string      `json:"job"`
	Error   string      `json:"error,omitempty"` // that of the latest run; "" if the groups are jobs
	Runs    int         `json:"runs"`
	FirstAt client.Time `json:"first_at"` // when the first and the last of them were scheduled
	LastAt  client.Time `json:"last_at"`
	RunID   string      `json:"run_id"` // of the latest run
}

// runGroupsMax bounds the groups. The runs of further ones are counted together.
const runGroupsMax = 1000

// groupedRuns are groups while runs are added, the newest first.
type groupedRuns struct {
	by     string // what the groups are: error or job
	groups []*runGroup
	byKey  map[string]*runGroup
	others int // runs of groups beyond runGroupsMax
}

// varying matches what differs between two errors of one cause: numbers, such as ports and times, and ids, which have
// digits among their letters.
var varying = regexp.MustCompile(`[0-9A-Za-z]*[0-9][0-9A-Za-z]*`)

// add counts a run.
func (g *groupedRuns) add(r *client.Run) {
	key, text := r.Job, ""
	if g.by == "error" {
		text = whyEnded(r)
		key += "\n" + varying.ReplaceAllString(text, "#")
	}
	group := g.byKey[key]
	switch {
	case group == nil && len(g.groups) == runGroupsMax:
		g.others++
		return
	case group == nil:
		group = &runGroup{Job: r.Job, Error: text, LastAt: r.ScheduledAt, RunID: r.RunID}
		g.byKey[key] = group
		g.groups = append(g.groups, group)
	}
	group.Runs++
	group.FirstAt = r.ScheduledAt
}

// sorted returns at most limit groups, those with most runs first; 0 is no limit.
func (g *groupedRuns) sorted(limit int) []*runGroup {
	slices.SortStableFunc(g.groups, func(a, b *runGroup) int { return cmp.Compare(b.Runs, a.Runs) })
	if limit > 0 && len(g.groups) > limit {
		return g.groups[:limit]
	}
	return g.groups
}

// listGroups prints the groups of the runs that the flags select.
func (c *runListCmd) listGroups(ctx context.Context, con *console, r *remote) error {
	g := &groupedRuns{by: c.Group, byKey: make(map[string]*runGroup)}
	for run, err := range r.Runs(ctx, client.RunListRequest{Job: c.Job, From: c.From.Time, To: c.To.Time, Status: c.Status, Limit: pageSize(0)}) {
		if err != nil {
			return r.orSimilar(ctx, c.Job, err)
		}
		g.add(&run)
	}
	shown := g.sorted(c.rows(c.Limit))
	if c.isDocument() {
		return c.print(con, struct {
			Groups []*runGroup `json:"groups"`
			Others int         `json:"runs_of_other_groups"`
		}{shown, g.others})
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
	if left := len(g.groups) - len(shown); left > 0 {
		con.notef("%s more; --limit 0 shows all\n", plural(left, "group"))
	}
	if g.others > 0 {
		con.notef("%s more in other groups than the first %d; choose fewer by --from, --to or a job\n", plural(g.others, "run"), runGroupsMax)
	}
	return nil
}
