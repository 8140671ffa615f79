package main

import "errors"

// applyReport prints what happens to each job, and counts. A table shows each step as it happens; documents are
// printed at the end, because they are one object.
type applyReport struct {
	con  *console
	form outputForm
	dry  bool
	// counts is made with the first step.
	counts map[applyAction]int
	// rows is kept for a document only; a table prints each at once.
	rows []applyRow
}

// applyRow is the JSON of one job. Diff is there in a dry run only, because afterwards the server has the file's
// definition.
type applyRow struct {
	Name   string      `json:"name"`
	Action applyAction `json:"action"`
	Diff   string      `json:"diff,omitempty"`
}

// applied is the JSON of the whole command. The names are part of the output and do not change.
type applied struct {
	DryRun    bool       `json:"dry_run"`
	Created   int        `json:"created"`
	Updated   int        `json:"updated"`
	Unchanged int        `json:"unchanged"`
	Deleted   int        `json:"deleted"`
	Jobs      []applyRow `json:"jobs"`
}

// add records a step that was carried out, and prints it unless the output is one document at the end.
func (r *applyReport) add(s *applyStep) {
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
	r.con.printf("%s %s\n%s", s.name, verb, markup(shownDiff(r.con.screen, row.Diff)))
}

// changes returns the number of jobs that were changed, or would be.
func (r *applyReport) changes() int {
	return r.counts[actionCreate] + r.counts[actionUpdate] + r.counts[actionDelete]
}

// close prints the counts. Err is why the command stopped early; nil if it did not. A failure does not hide what
// was done before it: the counts and the document come in any case.
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
