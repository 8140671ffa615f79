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
	router *router
	nats   *NATS // nil without NATS
	link   *link // nil without NATS
	http   *httpSender

	handlers *handlers

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
		nats:   o.NATS,
		http:   newHTTPSender(o),
		cancel: cancel,
		ended:  make(chan struct{}),
	}
	d.router = &router{steps: newQueue[step](), lanes: newLanes(o), ledger: d.ledger, base: base}
	d.router.senders[job.TargetHTTP] = d.http
	d.handlers = newHandlers(o.Handlers)
	d.router.senders[job.TargetHandler] = d.handlers
	d.ledger.afterTold = d.afterTold
	if o.NATS != nil {
		link, err := newLink(o, d.ledger)
		if err != nil {
			cancel()
			return nil, err
		}
		d.link, d.router.link = link, link
		d.running.Go(func() { link.runPublisher(base.Done()) })
		d.running.Go(func() { link.runConfirmer(base.Done()) })
	}
	d.running.Go(func() { d.ledger.watch(base.Done()) })
	d.running.Go(func() { d.router.run(base.Done()) })
	return d, nil
}

// Launch takes an attempt and returns without waiting for anything; it is made for the thread that
// launches on time. It calls done exactly once, later, from another goroutine. done must not block:
// other outcomes wait behind it. The delivery must not change until then.
//
// The attempt's timeout counts from the moment its sender begins, which is the LaunchedAt of its
// outcome. Before, it may wait for its turn (Options.QueueWaitMax) and for the connection to NATS
// (its timeout). After Close it fails with the text of [ErrStopped].
func (d *Dispatcher) Launch(del *job.Delivery, done func(job.Outcome)) {
	a := &attempt{delivery: del, done: done}
	if d.ledger.tracer != nil {
		a.followed = &followed{launched: time.Now()}
	}
	if err := d.ledger.accept(a); err != nil {
		go d.refuse(a, err)
		return
	}
	switch kind := del.Target.Kind; kind {
	case job.TargetNATS, job.TargetRequest, job.TargetJetStream:
		switch {
		case d.link == nil:
			go d.ledger.finish(a, errNoNATS)
		case kind == job.TargetNATS:
			d.link.publish(a)
		default:
			d.router.steps.push(step{attempt: a})
		}
	case job.TargetHTTP, job.TargetHandler:
		d.router.steps.push(step{attempt: a})
	default:
		go d.ledger.finish(a, errNoKind)
	}
}

// refuse tells the outcome of an attempt that was not accepted.
func (d *Dispatcher) refuse(a *attempt, err error) {
	outcome := a.outcome(time.Now(), outcomeOf(a.delivery, err))
	d.ledger.unfollow(a, outcome)
	a.done(outcome)
}

// afterTold frees what the attempt held.
func (d *Dispatcher) afterTold(a *attempt) {
	switch a.kind() {
	case job.TargetRequest, job.TargetJetStream:
		if d.link != nil {
			d.link.replies.forget(a)
		}
		d.router.afterTold(a)
	case job.TargetHTTP, job.TargetHandler:
		d.router.afterTold(a)
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
