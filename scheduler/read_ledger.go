package scheduler

import (
	"slices"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
)

// readPriorLedger reads which decided ticks of a job a new schedule might have too. It reads only what can matter: for
// a one-shot its own tick, otherwise the ticks between now and the row's last one. Nothing is decided after that one, so a
// one-shot of a later tick reads nothing, however far ahead it is. The core checks by AsOf and Cursor that nothing was
// decided since.
func (e *Engine) readPriorLedger(id job.ID, timer job.Timer, s *schedule.Schedule) (l core.Ledger, err error) {
	l.Cursor, l.From = timer.Cursor, instant.Of(e.opts.Clock.Now())
	if at := s.At(); s.Kind() == schedule.At {
		if at > timer.Last {
			return l, nil
		}
		if _, l.Decided, err = e.readRun(job.RunID{Job: id, At: at}); err == nil && !l.Decided {
			_, l.Decided, err = e.skippedOver(id, at)
		}
		return l, err
	}
	if l.Ahead = timer.Last > l.From; !l.Ahead {
		return l, nil
	}
	if l.Unread = timer.Last > l.From.Add(core.LeadMax); l.Unread {
		return l, nil
	}
	if until, ok, err := e.skippedOver(id, l.From); ok || err != nil {
		l.From = max(l.From, until)
		if err != nil {
			return l, err
		}
	}
	err = e.readAhead(id, timer.Last, &l)
	return l, err
}

// readAhead adds to a ledger what is finished of the ticks from its beginning up to the row's last one.
func (e *Engine) readAhead(id job.ID, last instant.Millis, l *core.Ledger) error {
	return e.scanHistory(id, l.From+1, last+1, func(run job.RunID, value []byte) (bool, error) {
		if len(l.Over)+len(l.Ranges) == core.AheadReadMax {
			l.From, l.Over, l.Ranges = last, nil, nil
			return false, nil
		}
		r, err := job.DecodeRun(run, value)
		l.Finished = max(l.Finished, r.FinishedAt)
		switch {
		case run.IsManual():
		case r.Until != 0:
			l.Ranges = append(l.Ranges, core.TickRange{From: run.At, Last: r.Until})
		default:
			l.Over = append(l.Over, run.At)
		}
		return true, err
	})
}

// skippedOver returns the end of the skipped ranges that contain an instant; false if none does.
func (e *Engine) skippedOver(id job.ID, at instant.Millis) (until instant.Millis, ok bool, err error) {
	err = e.scanSkippedOver(id, at, func(r job.Run) { until, ok = max(until, r.Until), true })
	return until, ok && err == nil, err
}

// scanSkippedOver calls fn for the skipped ranges of a job that contain an instant, newest first. It visits each day of the
// history up to the instant, so that must be one at which a tick may have been decided.
//
// An update skips ticks between now and the row's last one, and ticks of other schedules lie between them. So a range of at most
// LeadMax may contain ticks that are newer than its beginning. An older tick ends the search: no other range extends past it.
func (e *Engine) scanSkippedOver(id job.ID, at instant.Millis, fn func(job.Run)) error {
	now := instant.Of(e.opts.Clock.Now())
	oldest := max(1, now-instant.Millis(e.opts.Settings.HistoryDays+1)*dayMillis)
	seen := 0
	return e.scanHistory(id, oldest, at+1, func(run job.RunID, value []byte) (bool, error) {
		if seen++; run.IsManual() {
			return seen < ledgerRowsMax, nil
		}
		r, err := job.DecodeRun(run, value)
		if err == nil && r.Until >= at {
			fn(r)
		}
		return seen < ledgerRowsMax && run.At >= at.Add(-core.LeadMax), err
	})
}

// dayMillis is the length of a bucket of the history.
const dayMillis = 24 * 3600 * 1000

// ledgerRowsMax bounds the rows that one request reads from the ledger. Without a bound, one request for a long range
// could keep the store busy for seconds.
const ledgerRowsMax = 100_000

// scanHistory calls fn for the finished runs of a job that were scheduled in [from, to), newest first, until fn
// returns false or an error.
func (e *Engine) scanHistory(id job.ID, from, to instant.Millis, fn func(run job.RunID, value []byte) (more bool, err error)) error {
	newest := job.Day(to - 1)
	days, err := e.daysOf(job.KindHistory, job.Day(max(from, 0)), newest)
	if err != nil {
		return err
	}
	more := true
	for _, day := range days {
		low := job.AppendHistoryDay(nil, day, id)
		high := job.PrefixEnd(low)
		if day == newest {
			low = job.AppendHistoryKey(nil, job.RunID{Job: id, At: to - 1, Seq: ^uint32(0)})
		}
		err := e.opts.Store.Scan(low, high, func(key, value []byte) (bool, error) {
			run, err := job.ParseRunKey(key)
			if more = err == nil && run.At >= from; !more {
				return false, err
			}
			more, err = fn(run, value)
			return more, err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// ledgerReader finds out which ticks of a job have been fired.
type ledgerReader struct {
	*backfilling
	rows int // that it may still read
}

// fired returns those of the given ticks that have been fired or are about to be, by the schedule or by a manual run
// for the same time. The ticks must be ascending. A tick at the cursor or after it counts as about to be fired,
// because the schedule will do so.
func (l *ledgerReader) fired(ticks []instant.Millis) (map[instant.Millis]bool, error) {
	fired := make(map[instant.Millis]bool)
	if len(ticks) == 0 || l.request.Repeat {
		return fired, nil
	}
	id, from, to := l.rec.ID, ticks[0], ticks[len(ticks)-1]+1
	for _, at := range ticks {
		due := at >= l.timer.Cursor && !l.timer.Flags.Is(job.FlagPaused|job.FlagCompleted|job.FlagFailed)
		owed := func(d job.Debt) bool { return d.Has(at) }
		if due || slices.ContainsFunc(l.debts, owed) {
			fired[at] = true
		}
	}
	note := func(run job.RunID, value []byte) (bool, error) {
		if l.rows--; l.rows < 0 {
			return false, apierr.Errorf(apierr.InvalidField, "from", "the range has more than %d runs; want a shorter one", ledgerRowsMax)
		}
		r, err := job.DecodeRun(run, value)
		if r.Status != job.StatusSkipped {
			fired[run.At] = true
		}
		return true, err
	}
	low := job.AppendRunKey(nil, job.RunID{Job: id, At: to - 1, Seq: ^uint32(0)})
	high := append(job.AppendRunKey(nil, job.RunID{Job: id, At: from}), 0)
	err := l.engine.opts.Store.Scan(low, high, func(key, value []byte) (bool, error) { // live runs first, because they may end between the two reads
		run, err := job.ParseRunKey(key)
		if err != nil {
			return false, err
		}
		return note(run, value)
	})
	if err != nil {
		return nil, err
	}
	return fired, l.engine.scanHistory(id, from, to, note)
}

// readDebts reads the debts of a job.
func (e *Engine) readDebts(id job.ID) ([]job.Debt, error) {
	value, ok, err := e.opts.Store.Get(job.AppendJobKey(nil, job.KindDebt, id))
	if err != nil || !ok {
		return nil, err
	}
	return job.DecodeDebt(value)
}
