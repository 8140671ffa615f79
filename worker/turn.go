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

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// askTimeout bounds one question to the server. A heartbeat that gets no answer in it is missed.
const askTimeout = 10 * time.Second

// turn is a run while it is here: from its delivery to its report.
type turn struct {
	w        *Worker
	delivery *delivery
	permit   *permit
	log      *slog.Logger
	after    *turn // the attempt before, which is being ended; nil: none

	confirmed chan struct{} // closed when the server has answered
	refusal   error         // why the run was not taken; valid after confirmed
	over      chan struct{} // closed when nothing of the turn is left

	mu      sync.Mutex
	fence   uint64
	isMute  bool          // the last heartbeat had no answer
	ended   bool          // the command has ended, or will never start
	lost    error         // why the turn is lost; nil: it is not
	leaving chan struct{} // closed when it is lost
}

func newTurn(w *Worker, d *delivery, p *permit) *turn {
	return &turn{
		w: w, delivery: d, permit: p, fence: d.fence,
		log:       w.opts.Logger.With(slog.String(job.LogJob, d.job), slog.String(job.LogRun, d.runID)),
		confirmed: make(chan struct{}), over: make(chan struct{}), leaving: make(chan struct{}),
	}
}

// carry confirms the turn with the server, answers, runs the command and reports.
func (t *turn) carry(m *nats.Msg) {
	defer close(t.over)
	if t.after != nil {
		<-t.after.over // it is being ended, within its grace
	}
	t.refusal = t.confirm()
	if t.refusal != nil {
		t.log.Warn("a run was refused", slog.Any("error", t.refusal))
		t.w.forget(t)
		close(t.confirmed)
		t.answer(m)
		return
	}
	close(t.confirmed)
	t.answer(m)
	stop := t.keepBeating()
	result := t.perform()
	t.end()
	stop()
	t.report(result)
}

// answer answers a delivery as the server's confirmation says.
func (t *turn) answer(m *nats.Msg) {
	<-t.confirmed
	switch {
	case t.refusal == nil:
		t.w.accept(m)
	case isLost(t.refusal) || errors.Is(t.refusal, client.CodeInvalidField):
		t.w.refuse(m, finalCode, t.refusal)
	default:
		t.w.refuse(m, http.StatusServiceUnavailable, t.refusal)
	}
}

// confirm asks the server whether the run is live at the fence of its delivery, and for the time until the next
// heartbeats. Nothing starts without it.
func (t *turn) confirm() error {
	fence := t.fenceNow()
	err := t.extend(fence)
	for newer := t.fenceNow(); isLost(err) && newer != fence; newer = t.fenceNow() {
		fence = newer // a delivery with it came meanwhile
		err = t.extend(fence)
	}
	switch {
	case errors.Is(err, client.CodeInvalidField):
		return fmt.Errorf(`the job must have completion "reported" for a worker: %w`, err)
	case err != nil:
		return fmt.Errorf("the server did not confirm the run: %w", err)
	}
	return nil
}

func (t *turn) extend(fence uint64) error {
	ctx, cancel := context.WithTimeout(t.w.lifetime, askTimeout)
	defer cancel()
	_, err := t.w.opts.Client.Extend(ctx, t.delivery.runID, fence, t.w.opts.lease())
	return err
}

// isLost reports whether an answer of the server says that the run is over or has another attempt. No other error takes the
// turn away, least of all silence.
func isLost(err error) bool {
	return errors.Is(err, client.CodeStaleFence) || errors.Is(err, client.CodeNotFound)
}

// keepBeating extends the run until the result is called, which waits for the last heartbeat.
func (t *turn) keepBeating() (stop func()) {
	ended, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(t.w.opts.Heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				t.beat()
			}
		}
	}()
	return func() { close(ended); <-stopped }
}

// beat extends the run once, and finds out whether it was cancelled.
func (t *turn) beat() {
	fence := t.fenceNow()
	err := t.extend(fence)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil:
		t.isMute = false
	case t.fence != fence || t.lost != nil: // answered for a fence that was replaced meanwhile
	case isLost(err):
		t.lost = err
		close(t.leaving)
	case !t.isMute:
		t.isMute = true
		t.log.Warn("the server does not extend the run; its command goes on", slog.Any("error", err))
	}
}

func (t *turn) fenceNow() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.fence
}

// adopt continues the turn under a newer fence. It reports false if the turn is lost already.
func (t *turn) adopt(fence uint64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost != nil {
		return false
	}
	t.fence = max(t.fence, fence)
	return true
}

// end records that no command of the turn runs, or will.
func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
}

func (t *turn) hasEnded() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// lostWith returns why the turn is lost; nil: it is not.
func (t *turn) lostWith() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}
