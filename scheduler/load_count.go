package scheduler

import (
	"sync"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// loadingStep is how many jobs are loaded between two calls of Options.Loading. A start with ten million jobs makes
// some three hundred calls.
const loadingStep = 1 << 15

// progressScanner reports how many jobs have passed through it, from whichever goroutine reads them, one call at a time.
type progressScanner struct {
	core.Scanner
	report func(jobs uint64)

	mu   sync.Mutex
	jobs uint64 // a multiple of loadingStep, and what is left of each scan that has ended
}

// counted returns a scanner that reports how many jobs have passed through it. With a nil report it returns from
// itself.
func counted(from core.Scanner, report func(jobs uint64)) core.Scanner {
	if report == nil {
		return from
	}
	return &progressScanner{Scanner: from, report: report}
}

// Scan implements [core.Scanner]. A job has one timer. Parts of the timers may be scanned at the same time.
func (c *progressScanner) Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error {
	if job.Kind(low[0]) != job.KindTimer {
		return c.Scanner.Scan(low, high, fn)
	}
	n := uint64(0)
	defer func() { c.add(n) }()
	return c.Scanner.Scan(low, high, func(key, value []byte) (bool, error) {
		if n++; n == loadingStep {
			c.add(n)
			n = 0
		}
		return fn(key, value)
	})
}

// add counts jobs, and reports the number when it passes a multiple of loadingStep.
func (c *progressScanner) add(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.jobs / loadingStep
	if c.jobs += n; c.jobs/loadingStep > before {
		c.report(c.jobs / loadingStep * loadingStep)
	}
}
