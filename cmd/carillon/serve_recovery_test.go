package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon"
)

// TestRecoveryIsTold: in a log there is a line every two seconds; on a terminal a bar, which gives way to each
// line of the log.
func TestRecoveryIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs bytes.Buffer
		con := &console{err: &errs}
		told := &recovery{con: con}
		told.logger = newLogger(told, "json", "info")
		for n := range 25 {
			told.tell(carillon.Recovery{Stage: carillon.ReplayingLog, Done: uint64(n), All: 100})
			time.Sleep(100 * time.Millisecond)
		}
		told.tell(carillon.Recovery{Stage: carillon.LoadingJobs, Done: 1000})
		time.Sleep(progressAfter)
		told.tell(carillon.Recovery{Stage: carillon.LoadingJobs, Done: 2000})
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], `"stage":"replaying","done":20,"of":100`) || !strings.Contains(lines[1], `"stage":"loading","done":2000}`) {
			t.Errorf("the log says\n%s", errs.String())
		}
		errs.Reset()
		told.bar.isBar = true
		told.tell(carillon.Recovery{Stage: carillon.LoadingJobs, Done: 3000})
		told.logger.Info("something else")
		told.end()
		if text := errs.String(); !strings.HasPrefix(text, "\r3,000 jobs loaded so far, ") || !strings.Contains(text, "\x1b[K\r\x1b[K{") || strings.Count(text, "\n") != 1 {
			t.Errorf("on a terminal: %q", text)
		}
	})
}
