package scheduler

import (
	"slices"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// The history, the list of dead runs and the audit log are in buckets of one day, by the scheduled time of a run and by the clock of
// an entry. Mostly they are those of the last days. A run may end long after the time that it was scheduled for, and the clock may
// have been ahead: then there are rows outside, of which a list must have every one.

// daysBeyondMax bounds the buckets outside of the usual ones that a list reads on either side, the oldest ones first.
const daysBeyondMax = 1 << 12

// daysOf returns the days from low to high, both included, whose buckets of a kind a list reads, newest first: the usual ones, and
// outside of them those that have a row.
func (e *Engine) daysOf(kind job.Kind, low, high uint32) (days []uint32, err error) {
	first, last := e.usualDays()
	if low > high { // as with a cursor before the beginning that the query asks for
		return nil, nil
	}
	if low < first {
		days, err = e.daysWithRows(kind, low, min(high, first-1), days)
	}
	for day := max(low, first); err == nil && day <= min(high, last); day++ {
		days = append(days, day)
	}
	if err == nil && high > last {
		days, err = e.daysWithRows(kind, max(low, last+1), high, days)
	}
	slices.Reverse(days)
	return days, err
}

// usualDays returns the first and the last day of which there are rows if all clocks are right: those of the history, and the next
// one, for which ticks are decided ahead.
func (e *Engine) usualDays() (first, last uint32) {
	today := job.Day(instant.Of(e.opts.Clock.Now()))
	return today - min(today, uint32(e.opts.Settings.HistoryDays)+1), today + 1
}

// daysWithRows appends the days from low to high whose buckets of a kind have a row, oldest first.
func (e *Engine) daysWithRows(kind job.Kind, low, high uint32, days []uint32) ([]uint32, error) {
	end := job.PrefixEnd(job.AppendBucket(nil, kind, high))
	for range daysBeyondMax {
		day, found, err := e.firstDay(job.AppendBucket(nil, kind, low), end)
		if err != nil || !found {
			return days, err
		}
		if days = append(days, day); day == high {
			break
		}
		low = day + 1
	}
	return days, nil
}

// firstDay returns the day of the first row of some buckets.
func (e *Engine) firstDay(low, end []byte) (day uint32, found bool, err error) {
	scanned := e.opts.Store.Scan(low, end, func(key, _ []byte) (bool, error) {
		day, found = job.BucketDay(key), true
		return false, nil
	})
	return day, found, scanned
}
