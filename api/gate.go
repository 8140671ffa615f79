package api

import (
	"context"

	"github.com/carillon-io/carillon/job"
)

// gate bounds the requests of a kind: how many run at a time, and how many more may wait for that.
type gate struct {
	admitted chan struct{} // one for each request that runs or waits
	running  chan struct{}
}

func newGate(running, waiting int) *gate {
	return &gate{admitted: make(chan struct{}, running+waiting), running: make(chan struct{}, running)}
}

// admit takes a request in, or refuses it. It never blocks.
func (g *gate) admit() error {
	select {
	case g.admitted <- struct{}{}:
		return nil
	default:
		return job.Errorf(job.CodeRateLimited, "", "%d requests of this kind are under way, which is the limit; ask again later", cap(g.admitted))
	}
}

// enter waits until an admitted request may run.
func (g *gate) enter(ctx context.Context) error {
	select {
	case g.running <- struct{}{}:
		return nil
	case <-ctx.Done():
		return job.Errorf(job.CodeRateLimited, "", "the server was too busy to begin with the request in time; nothing has changed, ask again later")
	}
}

// exit ends the run of a request, and leave its stay.
func (g *gate) exit()  { <-g.running }
func (g *gate) leave() { <-g.admitted }
