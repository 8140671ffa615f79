package scheduler

import "github.com/carillon-io/carillon/job"

// loadingStep is how many jobs are loaded between two calls of Options.Loading.
const loadingStep = 1 << 15

// progressScanner reports how many jobs have passed through it.
type progressScanner struct {
	scanner
	report func(jobs uint64)
}

// counted returns a scanner that reports how many jobs have passed through it. With a nil report it returns from
// itself.
func counted(from scanner, report func(jobs uint64)) scanner {
	if report == nil {
		return from
	}
	return progressScanner{from, report}
}

// Scan implements scanner. A job has one timer.
func (c progressScanner) Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error {
	if job.Kind(low[0]) != job.KindTimer {
		return c.scanner.Scan(low, high, fn)
	}
	var n uint64
	return c.scanner.Scan(low, high, func(key, value []byte) (bool, error) {
		if n++; n%loadingStep == 0 {
			c.report(n)
		}
		return fn(key, value)
	})
}
