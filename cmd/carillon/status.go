package main

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/client"
)

// statusCmd tells how a server is doing.
type statusCmd struct {
	remoteFlags
	outputFlag
}

// Help is what `carillon status --help` says besides the flags.
func (*statusCmd) Help() string {
	return `Counts and lateness are since the start of the process.

Examples:

  carillon status
  carillon status --server nats://nats.example.com:4222 -o json`
}

// Run implements the command.
func (c *statusCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	s, err := r.Status(ctx)
	if err != nil {
		return err
	}
	if c.isJSON() {
		return con.printJSON(s)
	}
	return con.printStatus(&s)
}

func (c *console) printStatus(s *client.Status) error {
	t := newTable(c.out)
	t.pair("role", fmt.Sprintf("%s of shard %d, epoch %d", s.Role, s.Shard, s.Epoch))
	t.pair("version", s.Version)
	t.pair("up", showLength(time.Since(s.StartedAt.Time))+", since "+showTime(s.StartedAt))
	t.pair("jobs", fmt.Sprintf("%s, %s armed", showCount(s.Jobs), showCount(s.Armed)))
	t.pair("runs now", fmt.Sprintf("%s waiting for their time, %s with targets, %s without an outcome",
		showCount(s.Waiting), showCount(s.InFlight), showCount(s.Live)))
	t.pair("runs so far", fmt.Sprintf("%s fired, %s succeeded, %s dead, %s skipped; %s failed",
		showCount(s.Fired), showCount(s.Succeeded), showCount(s.Dead), showCount(s.Skipped), plural(s.Failed, "attempt")))
	t.pair("lateness", showLateness(s.Lateness))
	t.pair("log", fmt.Sprintf("LSN %d, applied up to %d; %s since the start", s.LSN, s.AppliedLSN, plural(s.Commits, "commit")))
	return t.flush()
}

func showLateness(l client.Lateness) string {
	if l.Count == 0 {
		return "no run yet"
	}
	return fmt.Sprintf("p50 %s, p99 %s, p99.9 %s, max %s over %s",
		showMillis(l.P50MS), showMillis(l.P99MS), showMillis(l.P999MS), showMillis(l.MaxMS), plural(l.Count, "run"))
}
