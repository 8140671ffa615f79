package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/terminal"
	"github.com/carillon-io/carillon/testkit"
)

// TestRecoveryIsTold: a log gets a line every two seconds; a terminal gets a bar, which is removed before each line of the
// log.
func TestRecoveryIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		con := &console{err: &errs}
		start := &recovery{con: con}
		start.logger = newLogger(start, "json", "info")
		for n := range 25 {
			start.update(server.Recovery{Stage: server.ReplayingLog, Done: uint64(n), All: 100})
			testkit.Pass(100 * time.Millisecond)
		}
		start.update(server.Recovery{Stage: server.LoadingJobs, Done: 1000})
		testkit.Pass(terminal.LineEvery)
		start.update(server.Recovery{Stage: server.LoadingJobs, Done: 2000})
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], `"stage":"replaying","done":20,"of":100`) || !strings.Contains(lines[1], `"stage":"loading","done":2000}`) {
			t.Errorf("the log says\n%s", errs.String())
		}
		errs.Reset()
		start.bar.Bar = true
		start.update(server.Recovery{Stage: server.LoadingJobs, Done: 3000})
		start.logger.Info("something else")
		start.end()
		if text := errs.String(); !strings.HasPrefix(text, "\r3,000 jobs loaded so far, ") || !strings.Contains(text, "\x1b[K\r\x1b[K{") || strings.Count(text, "\n") != 1 {
			t.Errorf("on a terminal: %q", text)
		}
	})
}
