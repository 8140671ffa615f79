package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/terminal"
)

// importReport prints which jobs were refused, and counts. Refusals are printed in the order of the input: one that
// was read behind jobs without a result waits for these. It is used from one goroutine: both the readers of files and
// the results call it within the call of the registrar.
type importReport struct {
	con    *console
	dryRun bool
	form   outputForm

	held        []heldItem // read and not reported yet, in the order of the input
	refusedHeld int        // refusals among them

	// accepted counts results; refused counts those of the server and of the readers.
	accepted, refused int
	progress          *terminal.Progress
}

// newImportReport returns a report of nothing yet.
func newImportReport(con *console, c *importCmd) *importReport {
	return &importReport{con: con, dryRun: c.DryRun, form: c.Output, progress: con.newProgress("job", "imported")}
}

// refuse counts a refusal and prints it with its place.
func (r *importReport) refuse(at place, reason string) {
	r.refused++
	r.con.notef("%s:%d: %s\n", at.file, at.line, oneLine(reason))
}

// refusalText returns an error of the server without its code, which is for programs.
func refusalText(e *client.Error) string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// importCounts is the JSON of an import. The names are part of the output and do not change.
type importCounts struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
}

// close prints the counts. Err is why the import ended early; nil if it did not. Jobs without a result may be
// registered or not, so it says from which line on to repeat; repeating an import is harmless.
func (r *importReport) close(err error) error {
	r.reportRefusals()
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

// rehearse is the registrar of a dry run: it checks the jobs and prints those that the server would accept.
func (r *importReport) rehearse(ctx context.Context, jobs iter.Seq[client.Job], each func(client.PutResult)) (client.PutTotals, error) {
	out := r.con.buffered()
	r.progress.Silent = r.con.screen.IsTerminal // the jobs that are printed show how far it is
	var rows *terminal.Table
	if r.form == formTable {
		rows = out.table("NAME", "SCHEDULE", "TIMEZONE", "TARGET", "PAYLOAD")
	}
	var err error
	shown := 0
	for j := range jobs {
		result := checkResult(&j, instant.Of(time.Now()))
		if result.Error == nil && r.form != formTable {
			err = errors.Join(err, out.printRecord(r.form, j, ownerOptions))
		} else if result.Error == nil {
			rows.Row(importRow(&j)...)
			if shown++; shown%tableRowsMax == 0 {
				err = errors.Join(err, rows.Flush())
			}
		}
		// Also for a job that was printed: the counts come from the results.
		each(result)
		if err = errors.Join(err, ctx.Err()); err != nil {
			break
		}
	}
	if rows != nil && shown > 0 {
		err = errors.Join(err, rows.Flush())
	}
	return client.PutTotals{}, errors.Join(err, out.flush())
}

// importRow returns the row of a job in the table of a dry run. It shows the schedule as it will be put, with the
// zone that a crontab got from its own lines or from the machine.
func importRow(j *client.Job) []string {
	payload := string(j.Payload)
	if len(j.PayloadBase64) > 0 {
		payload = formatBytes(int64(len(j.PayloadBase64)))
	}
	return []string{j.Name, showSchedule(j), j.Timezone, showTarget(j.Target), clip(payload)}
}
