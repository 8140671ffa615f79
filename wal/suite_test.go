package wal

import (
	"testing"

	"github.com/carillon-io/carillon/scheduler/logtest"
)

// TestLogSuite holds the log to the contract of every log.
func TestLogSuite(t *testing.T) {
	logtest.Run(t, func(t *testing.T) logtest.Log {
		l, err := Open(Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		return l
	})
}
