package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/carillon-io/carillon/job"
)

var (
	errNoNATS = errors.New("this server has no connection to NATS for its targets")
	errNoKind = errors.New("the target is of no known kind")
)

// Dispatcher brings runs to their targets. It is safe for concurrent use.
type Dispatcher struct {
	ledger *ledger
	places *places
	nats   *NATS // nil without NATS
	link   *link // nil without NATS
	http   *httpSender

	handlers *handlers
	base     context.Context // of every attempt that a goroutine carries

	cancel   context.CancelFunc // of everything that runs
	running  sync.WaitGroup
	teardown sync.Once
	ended    chan struct{} // closed when nothing runs any more
}

// New starts a dispatcher. Only Close ends it. If New fails, Options.NATS stays with the caller. It
// fails if an option is out of range, and if the NATS server does not let the connection
// subscribe to its inbox, because then no reply could reach it.
func New(o Options) (*Dispatcher, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	base, cancel := context.WithCancel(context.Background())
	d := &Dispatcher{
		ledger: newLedger(o),
		places: newPlaces(o),
		base:   base,
		nats:   o.NATS,
		http:   newHTTPSender(o),
		cancel: cancel,
		ended:  make(chan struct{}),
	}
	d.handlers = newHandlers(o.Handlers)
	d.ledger.afterTold = d.afterTold
	if o.NATS != nil {
		link, err := newLink(o, d.ledger)
		if err != nil {
			cancel()
			return nil, err
		}
		d.link = link
		d.running.Go(func() { link.runPublisher(base.Done()) })
		d.running.Go(func() { link.runConfirmer(base.Done()) })
	}
	d.running.Go(func() { d.ledger.watch(base.Done()) })
	return d, nil
}

// Reserve takes a place for an attempt of a lane, whose payload has so many bytes. It returns true if there
// is one, for a Launch or a Release, and false if not. Then it calls room once, later, with a place that it
// has taken: room says whether the caller has it now; else it is given back. Several engines may ask for places
// of one lane; they get them in the order in which they asked. Neither Reserve nor room may block.
//
// Places are bounded for a lane (Options.ConcurrencyPerTarget, or what the target says), for a tenant, which
// has three quarters of a kind at the most, and for a kind (Options.InFlightMax); so are the bytes of
// payloads. When a kind is full, tenants take turns, and within a tenant lanes.
func (d *Dispatcher) Reserve(key job.Lane, payloadBytes int, room func() bool) bool {
	return d.places.reserve(key, int64(payloadBytes), room)
}

// Release gives a place back that no Launch has used.
func (d *Dispatcher) Release(key job.Lane, payloadBytes int) {
	d.places.release(d.places.find(key), int64(payloadBytes))
}

// Launch takes an attempt for which the caller has a place, see [Dispatcher.Reserve], and returns without
// waiting for anything; it is made for the thread that launches on time. It calls done exactly once, later,
// from another goroutine, and gives the place back. done must not block: other outcomes wait behind it. The
// delivery must not change until then.
//
// The attempt's timeout counts from the moment its sender begins, which is the LaunchedAt of its
// outcome. Before, it may wait for the connection to NATS (its timeout). After Close it fails with the text
// of [ErrStopped].
func (d *Dispatcher) Launch(del *job.Delivery, done func(job.Outcome)) {
	a := &attempt{delivery: del, done: done, lane: d.places.find(del.Lane())}
	if d.ledger.tracer != nil {
		a.followed = &followed{launched: time.Now()}
	}
	if err := d.ledger.accept(a); err != nil {
		go d.refuse(a, err)
		return
	}
	switch del.Target.Kind {
	case job.TargetNATS, job.TargetRequest, job.TargetJetStream:
		if d.link == nil {
			go d.ledger.finish(a, errNoNATS)
			return
		}
		d.link.publish(a)
	case job.TargetHTTP:
		go d.carry(a, d.http)
	case job.TargetHandler:
		go d.carry(a, d.handlers)
	default:
		go d.ledger.finish(a, errNoKind)
	}
}

// refuse tells the outcome of an attempt that was not accepted.
func (d *Dispatcher) refuse(a *attempt, err error) {
	outcome := a.outcome(time.Now(), outcomeOf(a.delivery, err))
	d.ledger.unfollow(a, outcome)
	a.done(outcome)
	d.places.release(a.lane, a.weight())
}

// afterTold frees what the attempt held. A goroutine that carries it gives its place back itself.
func (d *Dispatcher) afterTold(a *attempt) {
	if kind := a.kind(); d.link != nil && (kind == job.TargetRequest || kind == job.TargetJetStream) {
		d.link.replies.forget(a)
	}
	if !a.carried {
		d.places.release(a.lane, a.weight())
	}
}

// Close takes no more launches, ends those that have not begun, and waits for those in flight until
// ctx ends; then it ends these too. When it returns, every launch has been answered, those it ended
// with the text of [ErrStopped], and the connection to NATS is closed or closing. It returns an error
// if it ended any in flight. It may be called again.
//
// A context that is done already makes it return at once, whatever the targets do.
func (d *Dispatcher) Close(ctx context.Context) error {
	d.ledger.close()
	select {
	case <-d.ledger.idle:
	case <-ctx.Done():
	}
	cut := d.ledger.stop()
	<-d.ledger.idle // nothing is open now, but some outcome may be on its way to its done
	d.teardown.Do(func() {
		d.cancel()
		go d.end()
	})
	select {
	case <-d.ended:
	case <-ctx.Done():
	}
	if cut > 0 {
		return fmt.Errorf("dispatch: close: ended %d attempts in flight: %w", cut, context.Cause(ctx))
	}
	return nil
}

// end closes the connections and waits for the goroutines. Either may take a while when a socket is
// stuck, so it is not on the way of a Close that has no time.
func (d *Dispatcher) end() {
	defer close(d.ended)
	if d.nats != nil {
		d.nats.Close()
	}
	d.running.Wait()
	d.http.closeIdle()
}
