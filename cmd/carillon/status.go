package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/terminal"
)

// statusCmd prints the state of a server.
type statusCmd struct {
	remoteFlags
	outputFlag
	watchFlag
}

// Help is what `carillon status --help` says besides the flags.
func (*statusCmd) Help() string {
	return `Counts and lateness are since the start of the process.

Examples:

  carillon status
  carillon status --watch
  carillon status --server nats://nats.example.com:4222 -o json
  carillon status --standby                   a standby, and its lag`
}

// Run implements the command.
func (c *statusCmd) Run(ctx context.Context, con *console) error {
	return c.lookAt(ctx, con, &c.remoteFlags, c.Output, func(con *console, r *remote) error {
		s, err := r.Status(ctx)
		if err != nil {
			return err
		}
		if c.isDocument() {
			return c.print(con, s)
		}
		return con.printStatus(&s)
	})
}

// printStatus prints the state of a server for people.
func (c *console) printStatus(s *client.Status) error {
	t := c.table()
	t.Row("role", showRole(s))
	t.Row("version", s.Version)
	// Servers of older releases do not send it.
	if s.TZData.Source != "" {
		t.Row("tzdata", showTZData(&s.TZData))
	}
	t.Row("up", terminal.Span(time.Since(s.StartedAt.Time))+", since "+showTime(s.StartedAt))
	t.Row("jobs", fmt.Sprintf("%s, %s armed", showCount(s.Jobs), showCount(s.Armed)))
	t.Row("runs now", fmt.Sprintf("%s scheduled within the lead, %s with targets, %s without an outcome",
		showCount(s.Scheduled), showCount(s.InFlight), showCount(s.Live)))
	t.Row("runs so far", fmt.Sprintf("%s fired, %s succeeded, %s dead, %s skipped, %s cancelled; %s failed",
		showCount(s.Fired), showCount(s.Succeeded), showCount(s.Dead), showCount(s.Skipped), showCount(s.Cancelled), plural(s.Failed, "attempt")))
	// Rows that call for attention come before those of the cluster.
	for _, p := range moreCounts(s) {
		t.Row(p[0], p[1])
	}
	if s.Cluster != nil {
		for _, p := range clusterRows(s.Cluster, len(s.Shards) > 0) {
			t.Row(p[0], p[1])
		}
	}
	for _, p := range shardLines(s) {
		t.Row(p[0], p[1])
	}
	t.Row("lateness", showLateness(s.Lateness))
	for _, p := range waitedRows(&s.Waited) {
		t.Row(p[0], p[1])
	}
	if len(s.Shards) == 0 {
		t.Row("log", fmt.Sprintf("LSN %d, applied up to %d; %s since the start", s.LSN, s.AppliedLSN, plural(s.Commits, "commit")))
	}
	return t.Flush()
}

// showRole returns the role of the node that answers.
func showRole(s *client.Status) string {
	if len(s.Shards) == 0 {
		return fmt.Sprintf("%s of shard %d, epoch %d", s.Role, s.Shard, s.Epoch)
	}
	led := 0
	for _, row := range s.Shards {
		if row.Role == "leader" {
			led++
		}
	}
	return fmt.Sprintf("%s, of %d of %d shards, highest epoch %d", s.Role, led, len(s.Shards), s.Epoch)
}

// showTZData returns the row of the timezone database.
func showTZData(z *client.TZData) string {
	text := fmt.Sprintf("%s, %s; %s of jobs, digest %s", z.Version, z.Source, plural(z.Zones, "zone"), z.Digest)
	if z.Changed > 0 {
		text += fmt.Sprintf("; %s changed at the start, %s moved", plural(z.Changed, "zone"), plural(z.Moved, "job"))
	}
	if z.Differing > 0 {
		text += fmt.Sprintf("; %s planned by other rules", plural(z.Differing, "zone"))
	}
	return text
}

// moreCounts returns the rows of a status that are shown only if there is something to report. A row that appears is a
// reason to look, so those that are usually zero are left out.
func moreCounts(s *client.Status) (rows [][2]string) {
	if s.Backlog > 0 || s.Queued > 0 || s.Retrying > 0 {
		rows = append(rows, [2]string{"backlog", fmt.Sprintf("%s due and not launched, %s of them waiting for a place at their target; %s to be retried",
			showCount(s.Backlog), showCount(s.Queued), showCount(s.Retrying))})
	}
	if len(s.SkippedBy) > 0 {
		var parts []string
		// Sorted, so that the row does not change from one look to the next of --watch.
		for _, reason := range slices.Sorted(maps.Keys(s.SkippedBy)) {
			parts = append(parts, fmt.Sprintf("%s %s", showCount(s.SkippedBy[reason]), reason))
		}
		rows = append(rows, [2]string{"skipped for", strings.Join(parts, ", ")})
	}
	if s.Reporting > 0 || s.StaleReports > 0 {
		rows = append(rows, [2]string{"workers", fmt.Sprintf("%s to be reported, %s refused for an old fence",
			plural(s.Reporting, "run"), plural(s.StaleReports, "report"))})
	}
	if s.Notices > 0 || s.NoticesLost > 0 {
		rows = append(rows, [2]string{"events", fmt.Sprintf("%s to be published, %s lost", showCount(s.Notices), showCount(s.NoticesLost))})
	}
	if s.DroppedRequests > 0 {
		rows = append(rows, [2]string{"dropped", plural(s.DroppedRequests, "request") + " whose reply would go to no inbox (serve --inbox-prefix)"})
	}
	for _, w := range s.Warnings {
		rows = append(rows, [2]string{"warning", w})
	}
	if c := s.CatchUp; c.Jobs > 0 {
		rows = append(rows, [2]string{"catching up", fmt.Sprintf("%s, %.0f runs a second, about %s left",
			plural(c.Jobs, "job"), c.Rate, terminal.Span(time.Duration(c.Left)))})
	}
	return rows
}

// waitedRows returns the rows for the time that runs waited before they could be launched, by reason. That time is not
// part of the lateness.
func waitedRows(w *client.Waited) (rows [][2]string) {
	for _, one := range []struct {
		what string
		l    client.Lateness
	}{{"own turn", w.Overlap}, {"catching up", w.CatchUp}, {"a place", w.Target}, {"a retry", w.Retry}} {
		if one.l.Count > 0 {
			rows = append(rows, [2]string{"waited for", one.what + ": " + showLateness(one.l)})
		}
	}
	return rows
}

// showLateness returns the percentiles of a lateness on one line. Percentiles are since the start of the process;
// those of the last minutes are in the metrics.
func showLateness(l client.Lateness) string {
	if l.Count == 0 {
		return "no launch yet"
	}
	return fmt.Sprintf("p50 %s, p99 %s, p99.9 %s, max %s over %s",
		showMillis(l.P50MS), showMillis(l.P99MS), showMillis(l.P999MS), showMillis(l.MaxMS), plural(l.Count, "launch"))
}
