package main

import (
	"errors"
	"strings"
)

// applyReport tells what becomes of each job, and counts.
type applyReport struct {
	con    *console
	form   outputForm
	dry    bool
	counts map[applyAction]int
	rows   []applyRow
}

// applyRow is the JSON of one job.
type applyRow struct {
	Name   string      `json:"name"`
	Action applyAction `json:"action"`
	Diff   string      `json:"diff,omitempty"`
}

// applied is the JSON of the whole.
type applied struct {
	DryRun    bool       `json:"dry_run"`
	Created   int        `json:"created"`
	Updated   int        `json:"updated"`
	Unchanged int        `json:"unchanged"`
	Deleted   int        `json:"deleted"`
	Jobs      []applyRow `json:"jobs"`
}

func (r *applyReport) tell(s *applyStep) {
	if r.counts == nil {
		r.counts = make(map[applyAction]int)
	}
	r.counts[s.action]++
	row := applyRow{Name: s.name, Action: s.action}
	if r.dry {
		row.Diff = s.diff
	}
	if r.form != formTable {
		r.rows = append(r.rows, row)
		return
	}
	verb := string(s.action)
	if r.dry {
		verb = wouldBe[s.action]
	}
	r.con.printf("%s %s\n%s", s.name, verb, r.con.screen.shownDiff(row.Diff))
}

// shownDiff is a diff as a terminal may have it.
func (s screen) shownDiff(diff string) string {
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines {
		if text, ok := strings.CutSuffix(line, "\n"); ok {
			lines[i] = s.paint(diffStyle(text), printable(text)) + "\n"
		}
	}
	return strings.Join(lines, "")
}

func (r *applyReport) changes() int {
	return r.counts[actionCreate] + r.counts[actionUpdate] + r.counts[actionDelete]
}

// close tells the counts. Err is why not all was done, if it was not.
func (r *applyReport) close(err error) error {
	end := ""
	if r.dry {
		end = " (nothing was changed)"
	}
	r.con.notef("%d created, %d updated, %d unchanged, %d deleted%s\n", r.counts[actionCreate], r.counts[actionUpdate], r.counts[actionKeep], r.counts[actionDelete], end)
	if r.form != formTable {
		err = errors.Join(err, r.con.printDocument(r.form, applied{
			DryRun: r.dry, Created: r.counts[actionCreate], Updated: r.counts[actionUpdate],
			Unchanged: r.counts[actionKeep], Deleted: r.counts[actionDelete], Jobs: r.rows,
		}))
	}
	return err
}
