package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// roundMax is how many announcements are published before their confirmations are waited for.
	roundMax = 256
	// roundBytesMax bounds their payloads, so that a slow connection gets a round through in time. A
	// payload that is larger goes by itself.
	roundBytesMax = 4 << 20
)

var (
	errDown   = errors.New("the connection to NATS is down")
	errSilent = errors.New("NATS did not confirm in time; what was published may have arrived")
)

// Announcer tells the world outside what became of runs: dead letters to
// <prefix>.dead.<tenant>, events to a stream on <prefix>.events.<tenant>.run.<status>. Their wire
// format is in docs/format/events.md. It keeps nothing: what it did not hand over is the caller's to
// bring again. It is for one goroutine at a time.
type Announcer struct {
	nats   *NATS
	prefix string
	origin string
	events EventOptions
	js     jetstream.JetStream
	ready  bool // the stream of events takes them

	inbox string         // of the acknowledgements, with its dot
	acks  chan *nats.Msg // room for two rounds: what an earlier one gave up may still come
	token uint64         // of the last reply subject

	duplicates atomic.Uint64 // events that the stream had already
}

// Duplicates returns how many events the stream took as duplicates, because it has their message ids: those that were
// announced again, and none else. It may be called from any goroutine.
func (a *Announcer) Duplicates() uint64 { return a.duplicates.Load() }

// NewAnnouncer returns an announcer over a connection, which stays the caller's. It may be that of a
// [Dispatcher]; one of its own keeps large dead letters from standing before launches. NewAnnouncer
// does not wait for the server, which may be away. It fails if an option is out of range or the
// connection is closed.
func NewAnnouncer(n *NATS, o AnnouncerOptions) (*Announcer, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	a := &Announcer{nats: n, prefix: o.Prefix, origin: o.Origin, events: o.Events}
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

// Announce publishes announcements in order and waits until they are safe: a dead letter until the
// server confirmed that it has it, an event until its stream acknowledged it. It returns how many
// from the front of the batch are, and why the next one is not, if there is one. That one, and
// some behind it, may have been published all the same: delivery is at least once. The stream leaves
// out an event that it has, by its Nats-Msg-Id, if it comes again inside the duplicate window;
// after a failure in the middle of a batch, events that were behind it may stand before it.
//
// While NATS is down it fails at once. It waits no longer than ctx. The caller calls again later,
// beginning with the announcement that failed.
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

// nextRound cuts a round from the front of what is to be announced.
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

// announce brings one round out. An error is that of the announcement behind those that are safe.
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
		a.ready = false // whatever it was, the stream is looked at again
	}
	return done, err
}

func (a *Announcer) deadSubject(n *Announcement) string { return a.prefix + ".dead." + n.Tenant }

func (a *Announcer) eventSubject(n *Announcement) string {
	return a.prefix + ".events." + n.Tenant + "." + eventName(n)
}

// reply returns the subject that the event of a token is acknowledged to.
func (a *Announcer) reply(token uint64) string { return a.inbox + strconv.FormatUint(token, 36) }

// tokenOf returns the token of an acknowledgement, or 0 for what is none of ours.
func (a *Announcer) tokenOf(m *nats.Msg) uint64 {
	token, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, a.inbox), 36, 64)
	if err != nil {
		return 0
	}
	return token
}

// dropStaleAcks makes room for the acknowledgements of a new round.
func (a *Announcer) dropStaleAcks() {
	for {
		select {
		case <-a.acks:
		default:
			return
		}
	}
}
