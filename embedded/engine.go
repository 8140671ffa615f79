package embedded

import (
	"context"
	"strings"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// checkedEngine is an engine that accepts only jobs whose target this program can reach: a registered handler or a
// web hook. The check is at registration: a job that could never run is an error of the program, which it should see
// at once.
type checkedEngine struct {
	*scheduler.Engine
	dispatcher *dispatch.Dispatcher
}

// Put implements api.Engine.
func (e checkedEngine) Put(ctx context.Context, def *job.Definition, ifVersion *uint32) (scheduler.JobView, bool, error) {
	if err := e.check(def.Target); err != nil {
		return scheduler.JobView{}, false, err
	}
	return e.Engine.Put(ctx, def, ifVersion)
}

// Prepare implements api.Engine.
func (e checkedEngine) Prepare(ctx context.Context, def *job.Definition) (*scheduler.Put, error) {
	if err := e.check(def.Target); err != nil {
		return nil, err
	}
	return e.Engine.Prepare(ctx, def)
}

// check returns an error for a target that this program cannot reach.
func (e checkedEngine) check(t job.Target) error {
	switch {
	case t.Kind == job.TargetHTTP:
		return nil
	case t.Kind != job.TargetHandler:
		return apierr.Errorf(apierr.InvalidTarget, "target.kind", "%q needs NATS, which an embedded scheduler does not have; want handler or http", t.Kind)
	case e.dispatcher.Handles(t.Handler):
		return nil
	}
	known := "none is"
	if names := e.dispatcher.Handlers(); len(names) > 0 {
		known = "there are " + strings.Join(names, ", ")
	}
	return apierr.Errorf(apierr.InvalidTarget, "target.name", "no handler %q is registered; %s", t.Handler, known)
}
