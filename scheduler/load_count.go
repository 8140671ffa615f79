package scheduler

import "github.com/carillon-io/carillon/job"

// loadingEvery is how many jobs are loaded from one time to the next that somebody is told.
const loadingEvery = 1 << 15

// tellingScanner tells how many jobs went by.
type tellingScanner struct {
	scanner
	tell func(jobs uint64)
}

// counted returns a scanner that tells how many jobs went by, or the same one if nobody wants to know.
func counted(from scanner, tell func(jobs uint64)) scanner {
	if tell == nil {
		return from
	}
	return tellingScanner{from, tell}
}

// Scan implements scanner. A job has one timer.
func (c tellingScanner) Scan(low, high []byte, fn func(key, value []byte) (more bool, err error)) error {
	if job.Kind(low[0]) != job.KindTimer {
		return c.scanner.Scan(low, high, fn)
	}
	var n uint64
	return c.scanner.Scan(low, high, func(key, value []byte) (bool, error) {
		if n++; n%loadingEvery == 0 {
			c.tell(n)
		}
		return fn(key, value)
	})
}
