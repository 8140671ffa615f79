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
	errNoKind = errors.New("the target has an unknown kind; want nats, jetstream, request, http or handler")
)

// Dispatcher delivers runs to their targets. It is safe for concurrent use. Its parts lock for themselves;
// it has no mutex of its own.
type Dispatcher struct {
	ledger *ledger
	places *places
	nats   *NATS // nil without a connection to NATS
	link   *link // nil without a connection to NATS
	// tenants has the links in the accounts of tenants; nil: link serves all of them.
	tenants *tenantLinks
	http    *httpSender

	handlers *handlers
	base     context.Context // parent of the context of every attempt that a goroutine carries

	cancel   context.CancelFunc // ends base
	running  sync.WaitGroup     // the goroutines that New started; not those that carry attempts, which may hang
	teardown sync.Once          // makes a second Close wait for the first instead of closing again
	ended    chan struct{}      // closed when all goroutines have ended
}

// New starts a dispatcher, which runs until Close. It fails if an option is out of range, or if the NATS
// server does not permit the connection to subscribe to its inbox, because then no reply could reach it.
// If it fails, the caller still owns Options.NATS.
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
	d.ledger.afterReport, d.ledger.isCrowded = d.afterReport, d.places.isAsked
	if o.NATS != nil {
		link := newLink(o, d.ledger)
		if err := link.attach(o.NATS); err != nil {
			cancel()
			return nil, err
		}
		d.link = link
		d.running.Go(func() { link.runPublisher(base.Done()) })
		d.running.Go(func() { link.runConfirmer(base.Done()) })
	}
	if o.TenantNATS != nil {
		d.tenants = newTenantLinks(o, d)
		d.running.Go(func() { d.tenants.watch(base.Done()) })
	}
	d.running.Go(func() { d.ledger.watch(base.Done()) })
	return d, nil
}

// Reserve takes a place in a lane for an attempt whose payload has payloadBytes bytes. If it returns
// true, the caller has the place and must use it for a Launch or give it back with Release. If it
// returns false, no place is free; later the dispatcher takes a place for the caller and calls room
// once. room returns true if the caller accepts the place, and false to give it back. Several engines
// may ask for places of one lane; they get them in the order in which they asked. Neither Reserve nor
// room may block.
//
// Places and payload bytes are bounded on three levels: for a lane (Options.ConcurrencyPerTarget, or the
// limit of the target), for a tenant (three quarters of a kind), and for a kind (Options.InFlightMax).
// When a kind is full, its tenants get free places in turns, and so do the lanes of a tenant.
func (d *Dispatcher) Reserve(key job.Lane, payloadBytes int, room func() bool) bool {
	return d.places.reserve(key, int64(payloadBytes), room)
}

// Release gives back a place that no Launch has used. Key and payloadBytes are those of the Reserve.
func (d *Dispatcher) Release(key job.Lane, payloadBytes int) {
	d.places.release(d.places.find(key), int64(payloadBytes))
}

// Launch starts an attempt for which the caller has a place, see [Dispatcher.Reserve]. It never blocks,
// so that the thread which launches on time can call it. It calls done exactly once, later and from
// another goroutine, and gives the place back. done must not block, because other outcomes wait for it.
// The caller must not change the delivery until done is called.
//
// The attempt's timeout counts from the moment when its sender begins, which is the LaunchedAt of its
// outcome. Before that it may wait as long again for the connection to NATS. After Close every attempt
// fails with the text of [ErrStopped].
func (d *Dispatcher) Launch(del *job.Delivery, done func(job.Outcome)) {
	a := &attempt{delivery: del, done: done, lane: d.places.find(del.Lane())}
	if d.ledger.tracer != nil {
		a.followed = &followed{launched: time.Now()}
	}
	// Before the ledger has the attempt, because it may end it at any time from then on.
	err := d.findLink(a)
	if stopped := d.ledger.accept(a); stopped != nil {
		// On another goroutine, because the caller may hold locks that its done needs.
		go d.refuse(a, stopped)
		return
	}
	switch del.Target.Kind {
	case job.TargetNATS, job.TargetRequest, job.TargetJetStream:
		if err != nil {
			go d.ledger.finish(a, err)
			return
		}
		a.link.publish(a)
	case job.TargetHTTP:
		go d.carry(a, d.http)
	case job.TargetHandler:
		go d.carry(a, d.handlers)
	default:
		go d.ledger.finish(a, errNoKind)
	}
}

// findLink sets the link of an attempt, if its kind needs one.
func (d *Dispatcher) findLink(a *attempt) (err error) {
	switch kind := a.kind(); {
	case kind != job.TargetNATS && kind != job.TargetRequest && kind != job.TargetJetStream:
	case d.tenants != nil:
		a.link, err = d.tenants.of(a.delivery)
	case d.link == nil:
		err = errNoNATS
	default:
		d.link.enter()
		a.link = d.link
	}
	a.asks = a.link != nil && a.kind() == job.TargetNATS && a.link.isSettling()
	return err
}

// refuse reports the outcome of an attempt that the ledger did not accept.
func (d *Dispatcher) refuse(a *attempt, err error) {
	outcome := a.outcome(time.Now(), outcomeOf(a.delivery, err))
	d.ledger.unfollow(a, outcome)
	a.done(outcome)
	if a.link != nil {
		a.link.leave()
	}
	d.places.release(a.lane, a.weight())
}

// afterReport frees what a concluded attempt held. It does not release the place of an attempt that a
// goroutine carries: that goroutine does so when the sender has returned.
func (d *Dispatcher) afterReport(a *attempt) {
	if a.link != nil {
		a.link.replies.forget(a)
		a.link.leave()
	}
	if !a.carried {
		d.places.release(a.lane, a.weight())
	}
}

// Close accepts no more launches, ends the attempts that have not begun, and waits for those in flight
// until ctx ends; then it ends these too. When it returns, the done of every launch has been called,
// with the text of [ErrStopped] for those that Close ended, and the connection to NATS is closed or
// being closed. It returns an error if it ended an attempt in flight. It may be called again.
//
// With a context that has already ended, Close returns at once, even if targets hang.
func (d *Dispatcher) Close(ctx context.Context) error {
	d.ledger.close()
	select {
	case <-d.ledger.idle:
	case <-ctx.Done():
	}
	cut := d.ledger.stop()
	<-d.ledger.idle // no attempt is open now, but a call of done may still be running
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

// end closes the connections and waits for the goroutines. Both may take long when a socket hangs, so
// Close runs it on a goroutine of its own.
func (d *Dispatcher) end() {
	defer close(d.ended)
	if d.nats != nil {
		d.nats.Close()
	}
	if d.tenants != nil {
		d.tenants.close() // a launch that the ledger will refuse may be about to open a link
	}
	d.running.Wait()
	d.http.transports.closeIdle()
}
