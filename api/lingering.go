package api

import (
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A service ends while its process lives on: a leader has handed over, or a copy begins to lead. Requests may be under way to it then.
// If its subscriptions ended at once, the NATS server of the process would drop those, and their callers would wait until their
// time is over. So the subscriptions linger, and refuse: nothing has changed, and the caller asks the present leader.
//
// Those that all leaders share, as a queue group, linger until another process is heard to lead. From then on the NATS server itself passes on
// what was sent to this process: it knows the subscriptions of the new leader, because they were made before the beat that said so, and
// it gives a request from another server to another member of the group if none is left here. Those of the process
// alone linger longer, until no other node takes it for the leader any more.

const (
	// lingerMost is how long the subscriptions of a service linger at most. It is longer than a message is under way, and than it takes
	// until the other nodes hear who leads now.
	lingerMost = 3 * time.Second
	// lingerCopy is how long those that all standbys share do: longer than a message is under way.
	lingerCopy = 250 * time.Millisecond
	// lingerLook is the time between two looks whether another process leads.
	lingerLook = 10 * time.Millisecond
)

// Lingering are the subscriptions of a service after its end, which refuse what still comes. It does not keep the service, and with it the
// memory of an engine. Its methods are safe for concurrent use.
type Lingering struct {
	nc         *nats.Conn
	isReplaced func() bool // another process is heard to lead; nil: no other process is heard

	mu     sync.Mutex
	began  time.Time    // zero: the service goes on
	isDone bool         // End was called, perhaps before the service has ended
	shared []*reception // with other processes; nil once they have ended
	own    []*reception // of the process alone; likewise
}

// newLingering returns what will be left of a service.
func newLingering(nc *nats.Conn, o *Options) *Lingering {
	l := &Lingering{nc: nc}
	if leaders, shard, process := o.Leaders, o.Shard, o.Process; leaders != nil && !o.Standby {
		l.isReplaced = func() bool {
			now, _ := leaders.LedBy(shard)
			return now != "" && now != process
		}
	}
	return l
}

// begin ends the service, and lets its subscriptions linger. Further calls do nothing.
func (l *Lingering) begin(shared, own []*reception) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.began.IsZero() {
		return
	}
	l.began, l.shared, l.own = time.Now(), shared, own
	for _, list := range [][]*reception{shared, own} {
		for _, r := range list {
			r.end()
		}
	}
	if l.isDone {
		l.endLocked()
		return
	}
	time.AfterFunc(lingerLook, l.look)
}

// look ends the subscriptions whose time is over, and looks again after a while if others are left.
func (l *Lingering) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	age := time.Since(l.began)
	isOver := age >= lingerMost || l.nc.IsClosed()
	if isOver || l.isReplaced == nil && age >= lingerCopy || l.isReplaced != nil && l.isReplaced() {
		l.endSharedLocked()
	}
	if isOver {
		l.endOwnLocked()
	}
	if l.shared != nil || l.own != nil {
		time.AfterFunc(lingerLook, l.look)
	}
}

// endSharedLocked ends the subscriptions that other processes share. What the client has received by then is still refused.
func (l *Lingering) endSharedLocked() {
	_ = drain(l.shared) // a subscription whose connection is gone has ended as well
	l.shared = nil
}

// endOwnLocked ends those of the process alone.
func (l *Lingering) endOwnLocked() {
	_ = drain(l.own) // likewise
	l.own = nil
}

// End ends the subscriptions, or lets them end with the service: another service of this process answers in their place. It does nothing on
// nil.
func (l *Lingering) End() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isDone = true
	l.endLocked()
}

func (l *Lingering) endLocked() {
	l.endSharedLocked()
	l.endOwnLocked()
}

// drain ends subscriptions. What the client has received by then is still handled.
func drain(list []*reception) error {
	var errs []error
	for _, r := range list {
		errs = append(errs, ended(r.sub.Drain()))
	}
	return errors.Join(errs...)
}
