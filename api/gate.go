package api

import (
	"context"

	"github.com/carillon-io/carillon/apierr"
)

// gate bounds the requests of one kind: how many run at a time, and how many more may wait to run. A nil gate bounds
// nothing. Safe for concurrent use. Admission comes first and never waits, so a flood costs one goroutine for each
// admitted request and no more. Places are given in no particular order.
//
// Invariant: each entry of running has one of admitted.
type gate struct {
	admitted chan struct{} // one entry for each request that runs or waits
	// running is the smaller bound: what is admitted and not running waits in enter.
	running chan struct{}
}

// newGate returns a gate for the given numbers of requests. Channels serve as counters, because a request that waits
// for one can give up when its context ends.
func newGate(running, waiting int) *gate {
	return &gate{admitted: make(chan struct{}, running+waiting), running: make(chan struct{}, running)}
}

// admit counts a request in, or refuses it. It never blocks. An admitted request must leave, once.
func (g *gate) admit() error {
	if g == nil {
		return nil
	}
	select {
	case g.admitted <- struct{}{}:
		return nil
	default:
		return apierr.Errorf(apierr.RateLimited, "", "%d requests of this kind are under way, which is the limit; ask again later", cap(g.admitted))
	}
}

// enter waits until an admitted request may run. It fails when ctx ends. After an error the request has not entered
// and must not exit. It can say for certain that nothing has changed, because no verb has been called yet.
func (g *gate) enter(ctx context.Context) error {
	if g == nil {
		return nil
	}
	select {
	case g.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return apierr.Errorf(apierr.RateLimited, "", "the server was too busy to begin with the request in time; nothing has changed, ask again later")
	}
}

// exit ends the run of a request.
func (g *gate) exit() {
	if g != nil {
		<-g.running
	}
}

// leave ends the admission of a request.
func (g *gate) leave() {
	if g != nil {
		<-g.admitted
	}
}
