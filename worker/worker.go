package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
)

// Worker runs the commands of jobs. [Start] makes one. Its methods are safe for concurrent use.
type Worker struct {
	opts  Options
	rules *keeper
	locks *locks
	sink  *sink
	slots chan struct{} // one for each command that may run

	// Closed in this order: ending when the commands are to end, hurry when they are to be killed at once.
	ending, hurry         chan struct{}
	endingOnce, hurryOnce sync.Once
	// lifetime ends when reports are given up.
	lifetime context.Context
	giveUp   context.CancelFunc

	mu       sync.Mutex
	sub      *nats.Subscription
	draining bool
	turns    map[string]*turn // by run id: those that are here, from their delivery to their report
	all      sync.WaitGroup   // of turns; Add under mu while not draining
}

// Start reads the allow file, opens the state directory and subscribes. The caller ends the worker with [Worker.Drain].
// The error is an [*OptionError] if the options or the allow file are wrong.
func Start(opts Options) (*Worker, error) {
	opts = opts.withDefaults()
	if err := opts.validate(); err != nil {
		return nil, &OptionError{err}
	}
	keepDescriptors()
	rules, err := openKeeper(opts.Allow, opts.Logger)
	if err != nil {
		return nil, &OptionError{err}
	}
	locks, err := openLocks(opts.State)
	if err != nil {
		return nil, err
	}
	sink, err := startSink(opts.Sink, opts.Logger)
	if err != nil {
		return nil, errors.Join(err, locks.close())
	}
	w := &Worker{
		opts: opts, rules: rules, locks: locks, sink: sink, slots: make(chan struct{}, opts.Parallel),
		ending: make(chan struct{}), hurry: make(chan struct{}), turns: make(map[string]*turn),
	}
	w.lifetime, w.giveUp = context.WithCancel(context.Background())
	w.warnOfSurvivors()
	if err := w.subscribe(); err != nil {
		w.giveUp()
		sink.close()
		return nil, errors.Join(err, locks.close())
	}
	return w, nil
}

// warnOfSurvivors logs which commands of earlier workers live.
func (w *Worker) warnOfSurvivors() {
	for _, s := range w.locks.survivors() {
		what := "the command of an earlier worker still runs; the next run of its job fails until it has ended"
		if s.by.hasEnded() {
			what = "a process that the command of an earlier worker has left in the background holds the lock of its job; the next run fails until it has ended"
		}
		w.opts.Logger.Warn(what, slog.String("lock", s.path), slog.String(job.LogRun, s.by.RunID), slog.Int("pid", s.by.PID))
	}
}

// Subject returns the subjects on which the runs of a worker with a name arrive.
func Subject(name string) string { return "cron." + name + ".>" }

// queue is the queue group of the workers with one name.
const queue = "carillon-worker"

func (w *Worker) subscribe() error {
	subject := Subject(w.opts.Name)
	sub, err := w.opts.Conn.QueueSubscribe(subject, queue, w.handle)
	if err == nil {
		err = w.opts.Conn.Flush() // the server has it, or has refused it
	}
	if last := w.opts.Conn.LastError(); err == nil && errors.Is(last, nats.ErrPermissionViolation) {
		err = last
	}
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	w.sub = sub
	w.opts.Logger.Info("the worker takes runs", slog.String("subject", subject), slog.Int("commands", w.rules.now().Len()), slog.String("user", ownUser()))
	return nil
}

// handle takes a delivery. It is called for one at a time, so it waits for nothing.
func (w *Worker) handle(m *nats.Msg) {
	d, err := readDelivery(m)
	if err != nil {
		w.opts.Logger.Warn("a request was refused", slog.String("subject", clip(m.Subject)), slog.Any("error", err))
		w.refuse(m, http.StatusBadRequest, err)
		return
	}
	permit, err := w.rules.now().find(&d.order)
	if err != nil {
		w.opts.Logger.Warn("a command is not allowed", slog.String(job.LogJob, d.job), slog.String(job.LogRun, d.runID), slog.Any("error", err))
		w.refuse(m, finalCode, err)
		return
	}
	t := newTurn(w, d, permit)
	if err := w.admit(t, m); err != nil {
		t.log.Warn("a run was refused", slog.Any("error", err))
		w.refuse(m, http.StatusServiceUnavailable, err)
	}
}

// admit begins a turn, or lets the delivery join the one that is here already.
func (w *Worker) admit(t *turn, m *nats.Msg) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	earlier := w.turns[t.delivery.runID]
	switch {
	case w.draining:
		return fmt.Errorf("the worker %s is about to end and takes no runs", w.opts.Name)
	case earlier != nil && earlier.adopt(t.fence):
		w.all.Go(func() { earlier.answer(m) })
		return nil
	case earlier == nil && len(w.turns) >= w.opts.Parallel+w.opts.Waiting:
		return fmt.Errorf("the worker %s is full: %d commands run and %d runs wait", w.opts.Name, w.opts.Parallel, w.opts.Waiting)
	}
	t.after = earlier
	w.turns[t.delivery.runID] = t
	w.all.Go(func() { t.carry(m) })
	return nil
}

// forget removes a turn that has ended, unless a later attempt has its place.
func (w *Worker) forget(t *turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turns[t.delivery.runID] == t {
		delete(w.turns, t.delivery.runID)
	}
}

// forgetAt is forget if the turn still has a fence. Otherwise a delivery has joined it, whose outcome is to be reported.
func (w *Worker) forgetAt(t *turn, fence uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.fenceNow() != fence {
		return false
	}
	if w.turns[t.delivery.runID] == t {
		delete(w.turns, t.delivery.runID)
	}
	return true
}

// rival returns another turn of the same job that is here; nil: there is none.
func (w *Worker) rival(t *turn) *turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, other := range w.turns {
		if other != t && other.delivery.job == t.delivery.job {
			return other
		}
	}
	return nil
}

// Drain takes no further runs and waits for those that are here. When ctx ends, it ends their commands, as a
// cancellation does, and reports them as failed. It returns when all are reported, or ctx has ended and reports have
// failed for 15 s. It may be called once.
func (w *Worker) Drain(ctx context.Context) error {
	w.mu.Lock()
	w.draining = true
	here := len(w.turns)
	w.mu.Unlock()
	w.opts.Logger.Info("the worker takes no further runs", slog.Int("runs", here))
	err := inbox.Drain(w.opts.Conn, w.sub) // what has arrived is still refused by name
	done := make(chan struct{})
	go func() {
		w.all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		w.end()
		<-done
	}
	w.giveUp()
	if errors.Is(err, nats.ErrConnectionClosed) {
		err = nil
	}
	w.sink.close()
	return errors.Join(err, w.locks.close())
}

// EndNow makes Drain kill all commands at once.
func (w *Worker) EndNow() {
	w.hurryOnce.Do(func() { close(w.hurry) })
	w.end()
}

// end ends all commands, and bounds their reports.
func (w *Worker) end() {
	w.endingOnce.Do(func() {
		close(w.ending)
		time.AfterFunc(w.opts.Grace+reportLast, w.giveUp)
	})
}
