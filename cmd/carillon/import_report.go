package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/carillon-io/carillon/client"
)

// importReport tells what became of the jobs of an import, and counts.
type importReport struct {
	con    *console
	dryRun bool
	form   outputForm

	held        []heldItem // read and not told yet, in the order of the input
	refusedHeld int        // refusals among them

	accepted, refused int
	progress          *progress
}

func newImportReport(con *console, c *importCmd) *importReport {
	return &importReport{con: con, dryRun: c.DryRun, form: c.Output, progress: newProgress(con, "job", "imported")}
}

func (r *importReport) refuse(at place, reason string) {
	r.refused++
	r.con.notef("%s:%d: %s\n", at.file, at.line, oneLine(reason))
}

// refusalText is an error of the server without its code, which is for programs.
func refusalText(e *client.Error) string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// importCounts is the JSON of an import.
type importCounts struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
}

// close tells the counts. Err is why the import ended early, if it did.
func (r *importReport) close(err error) error {
	r.tellRefusals()
	if n := len(r.held); n > 0 && err != nil {
		at := r.held[0].place
		err = fmt.Errorf("%w; whether the jobs from %s:%d on are in is unknown: import them again", err, at.file, at.line)
	}
	verb, end := "imported", ""
	if r.dryRun {
		verb, end = "would be imported", "; nothing was registered"
	}
	r.con.notef("%s %s, %d refused%s\n", plural(r.accepted, "job"), verb, r.refused, end)
	if r.form != formTable && !r.dryRun {
		err = errors.Join(err, r.con.printDocument(r.form, importCounts{r.accepted, r.refused}))
	}
	if err == nil && r.refused > 0 {
		return errReported
	}
	return err
}

// rehearse stands in for a server in a dry run: it checks the jobs and shows those that it would take.
func (r *importReport) rehearse(ctx context.Context, jobs iter.Seq[client.Job], each func(client.PutResult)) (client.PutTotals, error) {
	out := r.con.buffered()
	r.progress.besideOutput()
	var rows *table
	if r.form == formTable {
		rows = out.table("NAME", "SCHEDULE", "TIMEZONE", "TARGET", "PAYLOAD")
	}
	var err error
	shown := 0
	for j := range jobs {
		result := checkResult(&j)
		if result.Error == nil && r.form != formTable {
			err = errors.Join(err, out.printRecord(r.form, j, ownerOptions))
		} else if result.Error == nil {
			rows.row(importRow(&j)...)
			if shown++; shown%tableRowsMax == 0 {
				err = errors.Join(err, rows.flush())
			}
		}
		each(result)
		if err = errors.Join(err, ctx.Err()); err != nil {
			break
		}
	}
	if rows != nil && shown > 0 {
		err = errors.Join(err, rows.flush())
	}
	return client.PutTotals{}, errors.Join(err, out.flush())
}

// importRow is a job as a dry run shows it.
func importRow(j *client.Job) []string {
	payload := string(j.Payload)
	if len(j.PayloadBase64) > 0 {
		payload = formatBytes(int64(len(j.PayloadBase64)))
	}
	return []string{j.Name, showSchedule(j), j.Timezone, showTarget(j.Target), clip(payload)}
}
