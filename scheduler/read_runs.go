package scheduler

import (
	"cmp"
	"context"
	"math"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// Run returns a run by its id, live or final.
func (e *Engine) Run(_ context.Context, tenant string, id job.RunID) (RunView, error) {
	run, ok, err := e.readRun(id)
	if err != nil {
		return RunView{}, err
	}
	unknown := apierr.Errorf(apierr.NotFound, "run_id", "there is no run %s", id)
	if !ok {
		return RunView{}, unknown
	}
	rec, _, ok, err := e.readRows(id.Job)
	if err != nil {
		return RunView{}, err
	}
	if !ok || rec.Def.Tenant != tenant {
		return RunView{}, unknown
	}
	return e.runView(run, &rec), nil
}

// runView adds to a run what is not in its row: whether it is with its target now.
func (e *Engine) runView(run job.Run, rec *job.Record) RunView {
	if since, flying := e.pad.FlyingSince(run.ID); flying && !run.Status.IsFinal() {
		run.Status = job.StatusRunning
		if run.LaunchedAt == 0 { // it is the first attempt
			run.Lateness = max(0, since.Time().Sub(run.Due.Time()))
		}
		run.LaunchedAt = max(run.LaunchedAt, since)
	}
	return RunView{Run: run, Tenant: rec.Def.Tenant, Job: rec.Def.Name, Manual: run.ID.IsManual()}
}

// readRun reads a run, live or final. A run moves to the history when it ends, and back when it is retried. The second
// read of the live row finds one that moved back between the first two.
func (e *Engine) readRun(id job.RunID) (job.Run, bool, error) {
	for _, key := range [][]byte{job.AppendRunKey(nil, id), job.AppendHistoryKey(nil, id), job.AppendRunKey(nil, id)} {
		value, ok, err := e.opts.Store.Get(key)
		if err != nil {
			return job.Run{}, false, err
		}
		if ok {
			run, err := job.DecodeRun(id, value)
			return run, err == nil, err
		}
	}
	return job.Run{}, false, nil
}

// runScanMax bounds the runs that one page reads. A page with a filter may read so many and be short; its cursor
// continues behind the last run that was read.
const runScanMax = 10_000

// turnScanMax bounds those that a page reads in one turn of a request that reads several.
const turnScanMax = 256

// Runs returns a page of the runs of a job, live and finished, newest scheduled time first. Dead runs can also be
// listed over all jobs of a tenant.
func (e *Engine) Runs(ctx context.Context, q RunQuery) (RunPage, error) {
	if q.Job == "" {
		return e.deadRuns(ctx, q)
	}
	id, ok, err := e.lookUp(q.Tenant, q.Job)
	if err != nil {
		return RunPage{}, err
	}
	if !ok {
		return RunPage{}, core.UnknownJob(q.Job)
	}
	rec, timer, ok, err := e.readRows(id)
	if err != nil {
		return RunPage{}, err
	}
	if !ok {
		return RunPage{}, core.UnknownJob(q.Job)
	}
	l := runLister{engine: e, query: q, rec: &rec, tick: timer.Last}
	if err := l.list(); err != nil {
		return RunPage{}, err
	}
	return l.page, nil
}

// runLister merges the live runs of a job with its history, which is stored in buckets of one day.
type runLister struct {
	engine *Engine
	query  RunQuery
	rec    *job.Record
	tick   instant.Millis // the job's newest
	live   []job.Run      // newest first
	seen   int
	last   job.RunID // the last run that was read
	page   RunPage
}

// list fills the page. Live runs are read before the history, because a run that ends in between is then met twice,
// and dropped once; in the other order it could be missed.
func (l *runLister) list() error {
	if err := l.readLive(); err != nil {
		return err
	}
	days, err := l.days(job.KindHistory)
	if err != nil {
		return err
	}
	for i := 0; i < len(days) && !l.isFull(); i++ {
		if err := l.readDay(days[i]); err != nil {
			return err
		}
	}
	l.takeLiveFrom(job.RunID{})
	if err := l.readRangesInto(l.query.From); err != nil {
		return err
	}
	if l.isFull() {
		l.page.Next = l.last
	}
	return nil
}

// readRangesInto reads the skipped ranges that began on a day before that of the query's first instant, and contain it.
func (l *runLister) readRangesInto(from instant.Millis) error {
	if from == 0 || from > l.tick || l.isFull() {
		return nil
	}
	return l.engine.scanSkippedOver(l.rec.ID, from, func(r job.Run) {
		if job.Day(r.ID.At) < job.Day(from) {
			l.take(r)
		}
	})
}

func (l *runLister) isFull() bool {
	return len(l.page.Runs) == l.query.Limit || l.seen >= cmp.Or(l.query.scanMax, runScanMax)
}

// days returns the buckets of a kind that can hold a run of the query, newest first.
func (l *runLister) days(kind job.Kind) ([]uint32, error) {
	high := uint32(math.MaxUint32)
	if l.query.To != 0 {
		high = job.Day(max(0, l.query.To))
	}
	if l.query.After.Job != 0 {
		high = min(high, job.Day(l.query.After.At))
	}
	return l.engine.daysOf(kind, job.Day(max(0, l.query.From)), high)
}

// readLive reads the live runs of the page. If there are more than one page may read, they fill the page. A run that is over is in the
// history.
func (l *runLister) readLive() error {
	if l.query.Status.IsFinal() {
		return nil
	}
	low := job.AppendJobKey(nil, job.KindRun, l.rec.ID)
	high := job.PrefixEnd(low)
	switch q := &l.query; {
	case q.After.Job != 0:
		low = append(job.AppendRunKey(nil, q.After), 0)
	case q.To != 0:
		low = job.AppendRunKey(nil, job.RunID{Job: l.rec.ID, At: q.To - 1, Seq: ^uint32(0)})
	}
	if from := l.query.From; from != 0 {
		high = append(job.AppendRunKey(nil, job.RunID{Job: l.rec.ID, At: from}), 0)
	}
	return l.engine.opts.Store.Scan(low, high, func(key, value []byte) (bool, error) {
		run, err := decodeRun(key, value)
		l.live = append(l.live, run)
		return len(l.live) < runScanMax, err
	})
}

// readDay reads one bucket of the history, newest run first, and merges the live runs that belong in between.
func (l *runLister) readDay(day uint32) error {
	low := job.AppendHistoryDay(nil, day, l.rec.ID)
	high := job.PrefixEnd(low)
	if after := l.query.After; after.Job != 0 && job.Day(after.At) == day {
		low = append(job.AppendHistoryKey(nil, after), 0)
	}
	return l.engine.opts.Store.Scan(low, high, func(key, value []byte) (bool, error) {
		run, err := decodeRun(key, value)
		if err != nil {
			return false, err
		}
		l.takeLiveFrom(run.ID)
		l.dropLive(run.ID)
		l.take(run)
		return !l.isFull(), nil
	})
}

// takeLiveFrom appends the live runs that come before a run in the order of the list, or all that are left if id is
// zero.
func (l *runLister) takeLiveFrom(id job.RunID) {
	for len(l.live) > 0 && (id.Job == 0 || newer(l.live[0].ID, id)) && !l.isFull() {
		l.take(l.live[0])
		l.live = l.live[1:]
	}
}

// dropLive removes a live run that the history has too, because it ended between the two reads.
func (l *runLister) dropLive(id job.RunID) {
	if len(l.live) > 0 && l.live[0].ID == id {
		l.live = l.live[1:]
	}
}

// newer reports whether a run of one job comes before another in a list: the later scheduled time first, then the
// higher number.
func newer(a, b job.RunID) bool {
	if a.At != b.At {
		return a.At > b.At
	}
	return a.Seq > b.Seq
}

// take adds a run to the page, if the query selects it. It counts as read in any case, so that a page with a narrow
// filter ends.
func (l *runLister) take(run job.Run) {
	q := &l.query
	if l.isFull() || q.After.Job != 0 && !newer(q.After, run.ID) {
		return
	}
	l.seen++
	l.last = run.ID
	v := l.engine.runView(run, l.rec)
	inTime := (q.From == 0 || max(run.ID.At, run.Until) >= q.From) && (q.To == 0 || run.ID.At < q.To)
	isAsked := q.Status == 0 || q.Status == v.Status && (q.Status != job.StatusDead || v.IsListedDead())
	if inTime && isAsked {
		l.page.Runs = append(l.page.Runs, v)
	}
}

func decodeRun(key, value []byte) (job.Run, error) {
	id, err := job.ParseRunKey(key)
	if err != nil {
		return job.Run{}, err
	}
	return job.DecodeRun(id, value)
}
