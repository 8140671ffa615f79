package scheduler

import (
	"context"

	"github.com/carillon-io/carillon/job"
)

// actorKey is the context key of the actor.
type actorKey struct{}

// WithActor returns a context for changes that are made in the name of an actor. The audit log records the actor of
// each change. It travels in the context and not as a parameter, because most layers in between have no use for it. A
// change without an actor has the zero value.
func WithActor(ctx context.Context, a job.Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// actorOf returns the actor of a context, or the zero value if it has none. While a node of the cluster cannot read what
// the actor claims, that is left out.
func (e *Engine) actorOf(ctx context.Context) job.Actor {
	a, _ := ctx.Value(actorKey{}).(job.Actor)
	if a.Claimed != "" {
		if most, _ := e.rowsMax(); max(most, byte(e.rows.Load())) < job.RowsVersionOfClaims {
			a.Claimed = ""
		}
	}
	return a
}
