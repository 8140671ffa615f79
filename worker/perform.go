package worker

import (
	"context"
	"log/slog"
	"time"
)

// result is how a turn ended.
type result struct {
	failure string // "" is success
	output  tail
	lost    error // the turn was lost: there is nothing to report
}

// failed returns the result of a turn whose command did not run.
func failed(why string) *result { return &result{failure: why} }

// perform waits for a slot and for the job's lock, runs the command and waits for its end.
func (t *turn) perform() *result {
	select {
	case t.w.slots <- struct{}{}:
		defer func() { <-t.w.slots }()
	case <-t.leaving:
		return t.gone("the run was cancelled while it waited")
	case <-t.w.ending:
		return failed("the worker ended before it could start the command")
	}
	t.awaitRival()
	if t.lostWith() != nil {
		return t.gone("the run was cancelled while it waited")
	}
	held, err := t.w.locks.take(t.w.opts.Tenant, t.delivery.job, t.delivery.runID)
	if err != nil {
		t.log.Warn("a command was not started", slog.Any("error", err))
		return failed(err.Error())
	}
	r := t.run(held)
	if err := held.release(); err != nil {
		t.log.Warn("the lock of a job could not be released", slog.Any("error", err))
	}
	return r
}

// gone returns the result of a turn that was lost before its command began.
func (t *turn) gone(text string) *result {
	t.log.Info(text)
	return &result{lost: t.lostWith()}
}

// awaitRival waits for another run of the job whose turn is lost, as of one that this run has cancelled (overlap_policy
// cancel_other): its next heartbeat would come too late. A rival that keeps its turn has the lock, which decides.
func (t *turn) awaitRival() {
	rival := t.w.rival(t)
	if rival == nil || rival.hasEnded() {
		return
	}
	if rival.beat(); rival.lostWith() == nil {
		return
	}
	select {
	case <-rival.over:
	case <-t.leaving:
	case <-t.w.ending:
	}
}

// run starts the command and waits for its end, or for a reason to end it.
func (t *turn) run(held *lock) *result {
	r, began := new(result), time.Now()
	p, err := t.permit.start(t.delivery, held, &r.output, t.w.sink)
	if err != nil {
		t.log.Warn("a command could not be started", slog.Any("error", err))
		return failed(err.Error())
	}
	if err := held.write(holder{RunID: t.delivery.runID, PID: p.cmd.Process.Pid, StartedAt: began}); err != nil {
		t.log.Warn("the lock of a job cannot say who holds it", slog.Any("error", err))
	}
	t.log.Info("started", slog.String("command", clip(t.permit.command)), slog.String("user", t.permit.runsAs()),
		slog.Int("pid", p.cmd.Process.Pid), slog.String("allowed_by", t.permit.from))
	cause := t.await(p)
	r.failure = p.how(t.permit.success)
	switch {
	case cause == causeLost:
		r.lost = t.lostWith()
		r.failure = joinCause("the run is over for the server: "+r.lost.Error(), r.failure)
	case cause != "":
		r.failure = joinCause(string(cause), r.failure)
	}
	t.logEnd(r, time.Since(began))
	return r
}

// cause is why a command was ended; "": it ended by itself.
type cause string

const (
	causeLost    cause = "lost"
	causeTimeout cause = "it took longer than its timeout"
	causeEnding  cause = "the worker was ended"
)

// await waits for the end of the process, and ends it for one of the causes.
func (t *turn) await(p *process) cause {
	var timeout <-chan time.Time
	if t.permit.timeout > 0 {
		timer := time.NewTimer(t.permit.timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	var why cause
	select {
	case <-p.done:
		return ""
	case <-t.leaving:
		why = causeLost
	case <-timeout:
		why = causeTimeout
	case <-t.w.ending:
		why = causeEnding
	}
	p.end(t.w.opts.Grace, t.w.hurry)
	return why
}

func joinCause(why, how string) string {
	if how == "" {
		how = "exit status 0"
	}
	return why + " (" + how + ")"
}

// logEnd logs how a command ended, with the end of its output if it failed: the report has room for less of it.
func (t *turn) logEnd(r *result, took time.Duration) {
	took = took.Round(time.Millisecond)
	if r.failure == "" {
		t.log.Info("succeeded", slog.Duration("took", took), slog.Int64("output_bytes", r.output.size()))
		return
	}
	level, what := slog.LevelWarn, "failed"
	if r.lost != nil { // a run that was cancelled, as it may be; the server says why
		level, what = slog.LevelInfo, "ended"
	}
	t.log.Log(context.Background(), level, what, slog.String("error", r.failure), slog.Duration("took", took),
		slog.Int64("output_bytes", r.output.size()), slog.String("output", r.output.text(outputBytesMax)))
}
