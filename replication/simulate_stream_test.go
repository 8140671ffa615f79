package replication

import (
	"context"
	"errors"
	"time"
)

var errNoAnswer = errors.New("simulation: no answer came")

// simStream is a stream with the faults that were observed in NATS; the plan says which of them occur.
type simStream struct {
	*world
	gone     bool
	before   uint64
	first    uint64 // LSN that a node must have to lead, of a stream that was made anew; see metaFirst
	messages []simMessage
	late     publication   // of a world that regrows: it waits until the stream that it grows anew has the length that it expects
	held     []publication // of a world that regrows: publications that wait for a gap into which they fit
	offTill  time.Duration // until then no server leads it
	era      int           // number of times that requests under way were lost
}

type simMessage struct {
	data   []byte
	stored time.Duration
}

func (s *simStream) last() uint64 { return s.before + uint64(len(s.messages)) }

// publish stores a message, and returns its sequence.
func (s *simStream) publish(message []byte, expect uint64, era int) (uint64, error) {
	switch {
	case s.now < s.offTill || era != s.era:
		return 0, errNoAnswer
	case s.gone:
		return 0, errStreamGone
	case expect != s.last() && !s.chance(s.plan.failOpen):
		return 0, errWrongSequence
	case expect != s.last():
		s.saw("check failed open", expect, s.last())
	}
	s.messages = append(s.messages, simMessage{message, s.now})
	s.check.stored(message)
	seq := s.last()
	s.fill()
	return seq, nil
}

// lose drops acknowledged messages from the end, and all requests under way.
func (s *simStream) lose(n int) {
	if n = min(n, len(s.messages)); n > 0 {
		s.saw("tail lost", uint64(n))
		s.messages = s.messages[:len(s.messages)-n]
	}
	if s.plan.mode == keeping || s.plan.mode == losing {
		s.era++
	}
}

// trim drops messages from the front.
func (s *simStream) trim(keep int) {
	if n := len(s.messages) - keep; n > 0 {
		s.saw("front trimmed", uint64(n))
		s.before, s.messages = s.before+uint64(n), s.messages[n:]
	}
}

// streamOfNode is the stream as one node reaches it.
type streamOfNode struct {
	*simStream
	node *simNode
}

func (s streamOfNode) Publish(ctx context.Context, message []byte, expect uint64) (seq uint64, err error) {
	message, era := append([]byte(nil), message...), s.era
	err = s.request(s.node.machine, s.plan.stream, func() (err error) {
		if s.plan.mode == regrowing && !s.healed && s.gather(publication{message, expect, s.now}) {
			return errNoAnswer
		}
		seq, err = s.publish(message, expect, era)
		return err
	})
	s.note("publish", uint64(s.node.index), expect, seq)
	return seq, errors.Join(err, ctx.Err())
}

func (s streamOfNode) Bounds(ctx context.Context) (first, last uint64, err error) {
	err = s.request(s.node.machine, s.plan.reads, func() error {
		first, last = s.before+1, s.last()
		for s.chance(s.plan.staleBounds) && last >= first && s.messages[last-first].stored > s.now-100*time.Millisecond {
			last--
		}
		return s.state()
	})
	return first, last, errors.Join(err, ctx.Err())
}

// state returns the error that keeps every server from answering; nil if there is none.
func (s *simStream) state() error {
	switch {
	case s.now < s.offTill:
		return errNoAnswer
	case s.gone:
		return errStreamGone
	}
	return nil
}

// Get is answered by a server that may be behind, even without a leader. Most reads take no time, so that the
// many reads of a review are cheap.
func (s streamOfNode) Get(ctx context.Context, seq uint64) (message []byte, err error) {
	serve := func() error {
		if s.gone {
			return errStreamGone
		}
		if seq <= s.before || seq > s.last() || s.messages[seq-s.before-1].stored > s.now-s.node.lag {
			return errNoMessage
		}
		message = s.messages[seq-s.before-1].data
		return nil
	}
	s.node.reads++
	if s.node.slow > 0 {
		s.sleep(s.node.slow)
	}
	if s.node.linked && !s.chance(0.05) {
		err = serve()
	} else {
		err = s.request(s.node.machine, s.plan.reads, serve)
	}
	if err == errNoMessage && s.node.lag > 0 {
		s.counts["server behind"]++
	}
	return message, errors.Join(err, ctx.Err())
}

func (s streamOfNode) Lacks(ctx context.Context, seq uint64) (lacks bool, err error) {
	err = s.request(s.node.machine, s.plan.reads, func() error {
		lacks = seq <= s.before || seq > s.last()
		return s.state()
	})
	return lacks, errors.Join(err, ctx.Err())
}

func (s streamOfNode) GetRange(ctx context.Context, first, last uint64) ([][]byte, error) {
	return getEach(ctx, s, first, last)
}

func (s streamOfNode) Stored(ctx context.Context, seq uint64) (message []byte, err error) {
	found, err := s.StoredRange(ctx, seq, seq)
	if err == nil && found[0] == nil {
		return nil, errNoMessage
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

func (s streamOfNode) StoredRange(ctx context.Context, first, last uint64) (messages [][]byte, err error) {
	err = s.request(s.node.machine, s.plan.reads, func() error {
		if err := s.state(); err != nil {
			return err
		}
		messages = nil // the request may have come before
		for seq := first; seq <= last; seq++ {
			var message []byte
			if seq > s.before && seq <= s.last() {
				message = s.messages[seq-s.before-1].data
			}
			messages = append(messages, message)
		}
		return nil
	})
	return messages, errors.Join(err, ctx.Err())
}

func (s streamOfNode) Pause(ctx context.Context) error {
	s.sleep(pauseTime)
	return ctx.Err()
}

// restore makes the stream anew.
func (s *simStream) restore() {
	if s.gone {
		s.saw("stream made anew")
		s.gone, s.before, s.messages = false, 0, nil
		s.era++
	}
}

// simRegister is the lease in its bucket.
type simRegister struct {
	*world
	states []leaseState // all states that it ever had
}

// leaseState is a state of the lease and the instant from which it held.
type leaseState struct {
	since    time.Duration
	value    leaseValue
	revision uint64
	reason   string // reason for which the holder took it
}

func (r *simRegister) current() leaseState { return r.asOf(r.now) }

func (r *simRegister) asOf(t time.Duration) leaseState {
	for i := len(r.states) - 1; i >= 0; i-- {
		if r.states[i].since <= t {
			return r.states[i]
		}
	}
	return leaseState{}
}

// set stores a new state.
func (r *simRegister) set(v leaseValue, revision uint64, reason string) {
	r.states = append(r.states, leaseState{r.now, v, revision, reason})
	if len(r.states) > 200 {
		r.states = r.states[100:]
	}
}

// recreate empties the bucket.
func (r *simRegister) recreate() {
	if r.healed {
		return
	}
	r.saw("bucket made anew")
	r.bucket.era++
	r.set(leaseValue{}, 0, "")
}

type registerOfNode struct {
	*simRegister
	node *simNode
}

// claim is [shardLease.claim].
func (r registerOfNode) claim(ctx context.Context, v *leaseValue, known leaseValue, revision uint64) (uint64, error) {
	if revision != 0 {
		if err := confirmed(ctx, known, revision, r.read, r.readForSure); err != nil {
			return 0, err
		}
	}
	return r.swap(ctx, *v, revision)
}

func (r registerOfNode) held(ctx context.Context, least uint64) (leaseValue, uint64, error) {
	return lookFrom(ctx, least, r.read, r.readForSure)
}

func (r registerOfNode) swap(ctx context.Context, v leaseValue, revision uint64) (next uint64, err error) {
	reason, era := r.node.reason, r.bucket.era
	err = r.request(r.node.machine, r.plan.lease, func() error {
		now := r.current()
		switch {
		case r.now < r.bucket.offTill || era != r.bucket.era:
			return errNoAnswer
		case now.revision != revision:
			return errLost
		}
		switch {
		case v.Node == now.value.Node && v.Term == now.value.Term:
			reason = now.reason
		case v.Renewal > 0: // a late one, at a revision that a bucket made anew has reached, too: no node leads by it
			reason = "late renewal"
			r.saw(reason)
		default:
			r.check.taken(r.node, v, now, reason)
		}
		next = revision + 1
		r.set(v, next, reason)
		return nil
	})
	return next, errors.Join(err, ctx.Err())
}

func (r registerOfNode) read(ctx context.Context) (leaseValue, uint64, error) {
	return r.look(ctx, r.plan.staleLook)
}

func (r registerOfNode) readForSure(ctx context.Context) (leaseValue, uint64, error) {
	return r.look(ctx, 0)
}

// look reads the lease, with a chance that the state is an old one.
func (r registerOfNode) look(ctx context.Context, stale float64) (v leaseValue, revision uint64, err error) {
	err = r.request(r.node.machine, r.plan.reads, func() error {
		now := r.current()
		if r.chance(stale) {
			now = r.asOf(r.now - r.between(0, 3*time.Second))
			r.counts["stale look"]++
		}
		v, revision = now.value, now.revision
		if r.now < r.bucket.offTill {
			return errNoAnswer
		}
		return nil
	})
	return v, revision, errors.Join(err, ctx.Err())
}

func (r registerOfNode) watch(context.Context, func(leaseSeen, error)) error {
	panic("simulation: the watch is looked at by the node's loop")
}
