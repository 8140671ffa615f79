package scheduler

import (
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// loadingStep is how many jobs are loaded between two calls of Options.Loading. A start with ten million jobs makes
// some three hundred calls.
const loadingStep = 1 << 15

// progressScanner reports how many jobs have passed through it.
type progressScanner struct {
	core.Scanner
	report func(jobs uint64)
}

// counted returns a scanner that reports how many jobs have passed through it. With a nil report it returns from
// itself.
func counted(from core.Scanner, report func(jobs uint64)) core.Scanner {
	if report == nil {
		return from
	}
	return progressScanner{from, report}
}

// Scan implements [core.Scanner]. A job has one timer.
func (c progressScanner) Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error {
	if job.Kind(low[0]) != job.KindTimer {
		return c.Scanner.Scan(low, high, fn)
	}
	var n uint64
	return c.Scanner.Scan(low, high, func(key, value []byte) (bool, error) {
		if n++; n%loadingStep == 0 {
			c.report(n)
		}
		return fn(key, value)
	})
}
