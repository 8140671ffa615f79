package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// roundMax is the number of announcements that are published before the announcer waits for their
	// confirmations. A larger round costs fewer waits, and repeats more after a failure.
	roundMax = 256
	// roundBytesMax bounds the payloads of a round, in bytes, so that a slow connection can carry it in
	// time: within writeStuckAfter, that is any connection of 420 KB/s and more. A larger payload is a round
	// of its own.
	roundBytesMax = 4 << 20
)

var (
	errDown   = errors.New("the connection to NATS is down")
	errSilent = errors.New("NATS did not confirm in time; what was published may have arrived")
)

// IsSilence reports whether an error of [Announcer.Prepare] says no more than that JetStream has not answered in time.
func IsSilence(err error) bool { return errors.Is(err, errSilent) || errors.Is(err, errDown) }

// Announcer publishes what became of runs: dead letters to <prefix>.dead.<tenant>, and events to a
// stream on <prefix>.events.<tenant>.run.<status>. docs/format/events.md describes their wire format. It
// stores nothing: the caller keeps announcements until they are handed over, and repeats those that
// failed. Its methods must not be called concurrently, except Duplicates.
type Announcer struct {
	nats   *NATS
	prefix string
	origin string
	events EventOptions
	js     jetstream.JetStream
	ready  bool // the stream of events exists and takes them; a failed round resets it

	inbox  string         // prefix of the subjects for acknowledgements, with its dot
	acks   chan *nats.Msg // room for two rounds: acknowledgements of an earlier round may arrive late
	last   uint64         // number in the last reply subject
	random *rand.ChaCha8  // gives the secrets in the reply subjects; see replyToken

	duplicates atomic.Uint64 // events that the stream already had
}

// Duplicates returns the number of events that the stream dropped as duplicates, because it already had
// their message ids. Only events that were announced again are duplicates. It may be called from any
// goroutine.
func (a *Announcer) Duplicates() uint64 { return a.duplicates.Load() }

// NewAnnouncer returns an announcer that uses a connection, which the caller still owns and closes. It
// may be the connection of a [Dispatcher]; with a separate one, large dead letters do not delay
// launches. NewAnnouncer does not wait for the server, which may be unreachable. It fails if an option
// is out of range or the connection is closed.
func NewAnnouncer(n *NATS, o AnnouncerOptions) (*Announcer, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	a := &Announcer{nats: n, prefix: o.Prefix, origin: o.Origin, events: o.Events, random: newSecrets()}
	if !o.Events.Enabled {
		return a, nil
	}
	var err error
	if a.js, err = jetstream.New(n.conn); err != nil {
		return nil, fmt.Errorf("dispatch: open JetStream: %w", err)
	}
	a.inbox, a.acks = n.conn.NewInbox()+".", make(chan *nats.Msg, 2*roundMax)
	if _, err = n.conn.ChanSubscribe(a.inbox+"*", a.acks); err != nil {
		return nil, fmt.Errorf("dispatch: subscribe to acknowledgements: %w", err)
	}
	return a, nil
}

// Announce publishes announcements in order and waits until each is handed over: a dead letter when the
// server has confirmed it, an event when its stream has acknowledged it. It returns the number n of
// announcements at the front of the batch that are handed over, and the error of the next one, if there
// is one. That one and some after it may have been published nevertheless: delivery is at least once.
// The stream drops a repeated event by its Nats-Msg-Id if it arrives inside the duplicate window. After
// a failure in the middle of a batch, events after the failed one may precede it in the stream.
//
// Announce fails at once while the connection to NATS is down, and waits no longer than ctx. The caller
// calls it again later, beginning with the announcement that failed.
func (a *Announcer) Announce(ctx context.Context, batch []Announcement) (n int, err error) {
	for n < len(batch) && err == nil {
		var done int
		group := nextRound(batch[n:])
		done, err = a.announce(ctx, group)
		if n += done; err != nil {
			failed := &group[done]
			err = fmt.Errorf("dispatch: announce %s of run %s: %w", eventName(failed), failed.Run, err)
		}
	}
	return n, err
}

// nextRound returns the announcements at the front of the batch that form the next round. Of a batch that
// is not empty, that is at least one.
func nextRound(batch []Announcement) []Announcement {
	size := 0
	for i := range batch {
		size += len(batch[i].Payload)
		if i == roundMax || i > 0 && size > roundBytesMax {
			return batch[:i]
		}
	}
	return batch
}

// announce publishes one round. It returns the number of announcements handed over, and the error of the
// one after them.
//
// The life of the connection is read before the first message, so that any loss after that is noticed. An
// error before gather counts for the whole round, because it is then unknown which messages the server has.
func (a *Announcer) announce(ctx context.Context, group []Announcement) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !a.nats.connected.Load() {
		return 0, errDown
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.nats.stuck, errSilent)
	defer cancel()
	a.dropStaleAcks()
	r := a.newRound(group)
	ctx, stop := a.nats.whileAlive(ctx, r.life)
	defer stop()
	if err := r.publish(ctx); err != nil {
		return 0, err
	}
	if err := r.confirm(ctx); err != nil {
		return 0, err
	}
	r.gather(ctx)
	done, err := r.result()
	if err != nil {
		a.ready = false // whatever the cause, the next round checks the stream again
	}
	return done, err
}

// deadSubject returns the subject of a dead letter.
func (a *Announcer) deadSubject(n *Announcement) string { return a.prefix + ".dead." + n.Tenant }

// eventSubject returns the subject of an event.
func (a *Announcer) eventSubject(n *Announcement) string {
	return a.prefix + ".events." + n.Tenant + "." + eventName(n)
}

// dropStaleAcks discards late acknowledgements of earlier rounds, which makes room for those of a new
// round. The client drops messages for a channel that is full, and would drop the new ones.
func (a *Announcer) dropStaleAcks() {
	for {
		select {
		case <-a.acks:
		default:
			return
		}
	}
}
