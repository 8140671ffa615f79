package main

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/carillon-io/carillon/client"
)

// tableRowsMax is the number of rows that are aligned together. A longer table is printed in parts, so that a list is
// never held in memory as a whole. The columns of two parts may have different widths.
const tableRowsMax = 1000

// selectFlags select jobs. They are filters of the server, which all must match.
type selectFlags struct {
	NamePrefix string            `help:"Only jobs whose names begin with this." placeholder:"TEXT"`
	Label      map[string]string `short:"l" help:"Only jobs with this label; may be repeated." placeholder:"KEY=VALUE" complete:"@labels" mapsep:"none"`
	Status     string            `help:"Only jobs that are active, paused, completed or failed." placeholder:"STATUS" complete:"active,paused,completed,failed"`
	Contains   string            `help:"Only jobs whose names contain this, in upper or lower case." placeholder:"TEXT"`
	Target     string            `help:"Only jobs whose subject, or scheme and host of their URL, contains this." placeholder:"TEXT" secret:"url" instead:"the subject or the host alone"`
	LastRun    string            `help:"Only jobs whose run that ended last is dead, skipped and cancelled ones aside: failed." placeholder:"failed" complete:"failed"`
}

// request returns the request for the first page of the selected jobs.
func (f *selectFlags) request() client.ListRequest {
	return client.ListRequest{
		Prefix: f.NamePrefix, Labels: f.Label, Status: f.Status, Contains: f.Contains, Target: f.Target, LastRun: f.LastRun, Limit: 1000,
	}
}

// jobListCmd lists jobs.
type jobListCmd struct {
	selectFlags
	Limit int `help:"Largest number to print; 0 is no limit." placeholder:"N"`
	remoteFlags
	outputFlag
	watchFlag
}

// Help is what `carillon job list --help` says besides the flags.
func (*jobListCmd) Help() string {
	return `Examples:

  carillon job list
  carillon job list --name-prefix reports/ --status paused
  carillon job list --name-prefix reports/ --watch=5s
  carillon job list --contains invoice --target hooks.example.com --last-run failed
  carillon job list --label team=billing -o json | jq -r '.jobs[].name'`
}

// Run implements the command.
func (c *jobListCmd) Run(ctx context.Context, con *console) error {
	return c.lookAt(ctx, con, &c.remoteFlags, c.Output, func(con *console, r *remote) error {
		jobs := atMost(r.Jobs(ctx, c.request()), c.rows(c.Limit))
		if c.isDocument() {
			return printList(con, c.Output, "jobs", jobs)
		}
		return printRows(con, jobs, []string{"NAME", "STATUS", "SCHEDULE", "ZONE", "NEXT RUN", "LAST RUN", "TARGET"}, jobRow)
	})
}

// jobRow returns the row of a job in the table of job list. Distances are computed with the clock of this machine,
// which may differ from that of the server.
func jobRow(j *client.JobInfo) []string {
	next, last := "-", "-"
	if !j.NextRunAt.IsZero() {
		next = showDistance(time.Until(j.NextRunAt.Time))
	}
	if l := j.LastRun; l != nil {
		last = fmt.Sprintf("%s %s", l.Status, showDistance(time.Until(l.ScheduledAt.Time)))
	}
	return []string{j.Name, j.Status, showSchedule(&j.Job), j.Timezone, next, last, showTarget(j.Target)}
}

// atMost ends a sequence after a number of values; 0 is no limit. A limit that is reached ends the sequence, and with
// it the requests for further pages.
func atMost[T any](seq iter.Seq2[T, error], most int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		n := 0
		for v, err := range seq {
			if !yield(v, err) {
				return
			}
			if n++; n == most {
				return
			}
		}
	}
}

// printRows prints a sequence as a table, in parts. The widths of the columns are those of one part, which is the
// price of not holding all rows. An error before the first row prints nothing, and no titles.
func printRows[T any](con *console, seq iter.Seq2[T, error], titles []string, row func(*T) []string) error {
	out := con.buffered()
	t, n := out.table(titles...), 0
	for v, err := range seq {
		if err != nil && n > 0 {
			_, _ = t.Flush(), out.flush()
		}
		if err != nil {
			return unfinished(n, err)
		}
		t.Row(row(&v)...)
		if n++; n%tableRowsMax == 0 {
			if err := t.Flush(); err != nil {
				return err
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return out.flush()
}

// unfinished returns the error of a list that fails after n entries. What was printed looks like a whole list, so the last
// line says that it is none.
func unfinished(n int, err error) error {
	if n == 0 {
		return err
	}
	return fmt.Errorf("the list is not complete, it ends after %s: %w", plural(n, "item"), err)
}

// printList prints a sequence as one object with one list, as the API returns it, but with all pages in it. It is
// streamed, so an error in the middle leaves an unfinished document and a failure as the exit status.
func printList[T any](con *console, form outputForm, name string, seq iter.Seq2[T, error]) error {
	out := con.buffered()
	head, separator, end, empty := fmt.Sprintf("{%q: [\n  ", name), ",\n  ", "\n]}\n", fmt.Sprintf("{%q: []}\n", name)
	if form == formYAML {
		head, separator, end, empty = name+":\n", "", "", name+": []\n"
	}
	// The head comes with the first value, so that a failure before it prints nothing.
	before, after, n := head, empty, 0
	for v, err := range seq {
		if err != nil {
			_ = out.flush()
			return unfinished(n, err)
		}
		n++
		out.printf("%s", markup(before))
		if err := out.printItem(form, v); err != nil {
			return err
		}
		before, after = separator, end
	}
	out.printf("%s", markup(after))
	return out.flush()
}
