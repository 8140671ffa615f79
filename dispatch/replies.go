package dispatch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/carillon-io/carillon/job"
	"github.com/nats-io/nats.go"
)

var errAckLost = errors.New("the connection to NATS was lost before the stream acknowledged; the message may be stored")

// replies receives the answers to requests and to publishes to streams: one subscription for all of
// them, and a table of attempts by the number in the reply subject.
//
// Invariant: an attempt with a token is in the table until it is concluded, or retreats because the
// connection is down.
type replies struct {
	prefix string // prefix of the reply subjects, with its dot; set by subscribe
	ledger *ledger

	mu      sync.Mutex
	last    uint64              // newest number; numbers are never reused, so a late reply finds no other attempt
	secrets *rand.ChaCha8       // without which a reply is not taken; see replyToken
	waiting map[uint64]*attempt // by number

	duplicates atomic.Uint64 // runs that their streams already had
}

func newReplies(ledger *ledger) *replies {
	return &replies{ledger: ledger, secrets: newSecrets(), waiting: make(map[uint64]*attempt)}
}

// subscribe subscribes to the reply subjects, before the first attempt is expected. It returns an error if the server does
// not permit that, since then no request could ever be answered.
func (r *replies) subscribe(conn *nats.Conn) error {
	r.prefix = conn.NewInbox() + "."
	if _, err := conn.Subscribe(r.prefix+"*", r.receive); err != nil {
		return fmt.Errorf("dispatch: subscribe to replies: %w", err)
	}
	if !conn.IsConnected() {
		return nil // the client subscribes when it connects
	}
	if err := conn.FlushTimeout(writeStuckAfter); err != nil {
		return fmt.Errorf("dispatch: subscribe to replies: %w", err)
	}
	if err := conn.LastError(); errors.Is(err, nats.ErrPermissionViolation) {
		return fmt.Errorf("dispatch: the connection may not receive replies: %w", err)
	}
	return nil
}

// expect adds the attempt to the table and returns its reply subject and the number in it. For an attempt without replies it does
// nothing and returns zero values.
func (r *replies) expect(a *attempt, life uint64) (subject string, number uint64) {
	if !a.hasReply() {
		return "", 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	a.token, a.life = replyToken{number: r.last, secret: r.secrets.Uint64()}, life
	r.waiting[r.last] = a
	return a.token.subject(r.prefix), r.last
}

// forget removes the attempt from the table, if it is in it.
func (r *replies) forget(a *attempt) {
	if !a.hasReply() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, a.token.number)
}

// isWithdrawn reports whether a message that was published under a number is no longer its attempt's: the attempt is concluded, or
// is sent again. 0 is the number of messages without a reply subject.
func (r *replies) isWithdrawn(number uint64) bool {
	if number == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting[number] == nil
}

// failStale fails the publishes to streams of earlier lives, whose acknowledgements are unlikely to
// arrive. The next attempt is safe, because the stream recognises the run id. Requests continue to wait:
// their service may still be at work, and its reply reaches the new connection.
func (r *replies) failStale(life uint64) {
	r.mu.Lock()
	var stale []*attempt
	for _, a := range r.waiting {
		if a.kind() == job.TargetJetStream && a.life != life {
			stale = append(stale, a)
		}
	}
	r.mu.Unlock()
	for _, a := range stale {
		r.ledger.finish(a, errAckLost)
	}
}

// find returns the attempt with a token, or nil.
func (r *replies) find(t replyToken) *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.waiting[t.number]; a != nil && a.token == t {
		return a
	}
	return nil
}

// receive handles one reply. A reply to an attempt that is concluded, a second reply, or one for which no attempt
// waits is ignored. It runs on the goroutine of the subscription, so replies are judged one after the other.
func (r *replies) receive(m *nats.Msg) {
	a := r.find(parseReplyToken(m.Subject, r.prefix))
	if a == nil {
		return
	}
	duplicate, err := judge(a.delivery.Target, m)
	if duplicate {
		r.duplicates.Add(1)
	}
	switch {
	case isUnserved(m) && a.link.isSettling():
		a.link.sendAnew(a, err)
	case isUnserved(m) && a.kind() == job.TargetNATS:
		r.ledger.leaveForNobody(a)
	case a.kind() == job.TargetNATS: // it is delivered when NATS has it, whatever is replied
	default:
		r.ledger.finish(a, err)
	}
}
