package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
)

// A process that hangs answers nothing, and keeps what it was sent. So a node waits for another process only as long as it
// hears that: a request under way to a node that falls silent ends then, and not when its time is over.

// Leaders say which processes lead shards, as one process hears it. Safe for concurrent use.
type Leaders interface {
	// LedBy returns the process that leads a shard by what this one has heard in the last moments; "" if none does. isSilent
	// reports that the last one that did is not heard any more.
	LedBy(shard uint32) (process string, isSilent bool)
	// Hears reports whether a process that has a shard was heard in the last moments.
	Hears(shard uint32, process string) bool
	// ClockOf returns what the clock of a process shows now, at least, and until when by that clock this process hears it at
	// least, if it hears nothing more; zero times if it does not know.
	ClockOf(shard uint32, process string) (now, until time.Time)
	// MayHang reports whether a process that led a shard when it was heard last is not heard any more. It may hang, and take
	// requests for the leader of the shard.
	MayHang(shard uint32) bool
}

// askElsewhere has the leader of a shard in another process carry out a request. A request that came too late, as one does that meets a
// hand-over, is sent again to the leader of that moment, until its time is over.
func (x *Executor) askElsewhere(ctx context.Context, shard uint32, v *Verb, q *Request) (Reply, error) {
	for {
		reply, err := x.askLeaderOf(ctx, shard, v, q)
		if !errors.Is(err, errLate) {
			return reply, err
		}
		select {
		case <-ctx.Done():
			return reply, err
		case <-time.After(lateAgain):
		}
	}
}

// askLeaderOf asks the leader of a shard once. It is asked by its process: a former one that hangs
// may be in the queue group of leaders for minutes, until NATS takes it for gone. One that is not heard any more is not
// asked at all, because it might carry the request out whenever it wakes.
func (x *Executor) askLeaderOf(ctx context.Context, shard uint32, v *Verb, q *Request) (Reply, error) {
	all := x.forwarder.leaders
	if all == nil {
		return x.forward(ctx, shard, v, q)
	}
	process, isSilent := all.LedBy(shard)
	if isSilent {
		return Reply{}, x.forwarder.failed(shard, v, nats.ErrNoResponders)
	}
	if process != "" {
		reply, err := x.askProcess(ctx, process, shard, v, q)
		if !errors.Is(err, errNoLeader) {
			return reply, err
		}
	}
	// It has just begun to lead, or has handed over. Which process of the group gets the request is not known.
	heard, end := whileHeard(ctx, groupWait, func() bool { return !all.MayHang(shard) })
	defer end()
	return x.forward(heard, shard, v, q)
}

// askProcess has a process that leads a shard carry out a request.
func (x *Executor) askProcess(ctx context.Context, process string, shard uint32, v *Verb, q *Request) (Reply, error) {
	heard, end := whileHeard(ctx, silenceLook, func() bool { return x.forwarder.leaders.Hears(shard, process) })
	defer end()
	return x.forwardTo(heard, x.opts.leaderRoot(shard, process), shard, v, q, func() time.Time { return x.untilOf(ctx, process, shard, v) })
}

// untilOf returns the instant, by the clock of a process, from which that may not begin a change that it is asked for: by then this
// process may have told its caller that it has got no answer. The zero time is none: a read changes nothing.
func (x *Executor) untilOf(ctx context.Context, process string, shard uint32, v *Verb) time.Time {
	now, until := x.forwarder.leaders.ClockOf(shard, process)
	if v.reads || until.IsZero() {
		return time.Time{}
	}
	if end, ok := ctx.Deadline(); ok {
		if last := now.Add(time.Until(end)); last.Before(until) {
			return last
		}
	}
	return until
}

const (
	// lateAgain is the pause before a request that came too late is sent again. A hand-over takes about twice as long.
	lateAgain = 50 * time.Millisecond
	// silenceLook is the time between two looks whether a process that was asked is still heard.
	silenceLook = 125 * time.Millisecond
	// groupWait is how long the leaders of a shard, one of which may hang, are waited for in any case.
	groupWait = time.Second
)

// errSilent is the cause of the end of a request whose receiver has fallen silent.
var errSilent = errors.New("the process that was asked is not heard any more")

// isSilence reports whether a context has ended because the receiver of the request has fallen silent.
func isSilence(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errSilent) }

// fallenSilent returns what the caller learns of a request that was sent to a leader before that fell silent: a read may be repeated,
// as one that was not sent; of a change it is unknown whether it took effect.
func (f *forwarder) fallenSilent(shard uint32, v *Verb) error {
	if !v.reads {
		return f.failed(shard, v, errSilent)
	}
	refusal, _ := errors.AsType[*apierr.Error](f.failed(shard, v, nats.ErrNoResponders))
	return refusal
}

// noAnswer says why there is no answer.
func noAnswer(err error) string {
	if errors.Is(err, errSilent) {
		return "has fallen silent"
	}
	return "has not answered in time"
}

// listening waits for a reply as long as its sender is heard. Use whileHeard.
type listening struct {
	isHeard func() bool
	end     context.CancelCauseFunc
	ctx     context.Context

	mu       sync.Mutex
	timer    *time.Timer
	isMissed bool // the last look found silence
}

// whileHeard returns a context that ends with errSilent when isHeard is false at two looks running; the first one is after
// a while. One alone may be wrong, because a process that stood still itself has not read yet what has come. The caller calls
// end once.
func whileHeard(ctx context.Context, after time.Duration, isHeard func() bool) (heard context.Context, end context.CancelFunc) {
	l := &listening{isHeard: isHeard}
	l.ctx, l.end = context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(after, l.look)
	return l.ctx, l.stop
}

// look looks once, and again after a while.
func (l *listening) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil {
		return
	}
	wasMissed := l.isMissed
	if l.isMissed = !l.isHeard(); l.isMissed && wasMissed {
		l.end(errSilent)
		return
	}
	l.timer.Reset(silenceLook)
}

// stop ends the looks.
func (l *listening) stop() {
	l.end(context.Canceled)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer.Stop()
}
