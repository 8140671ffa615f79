package embedded

import (
	"context"
	"strings"

	"github.com/carillon-io/carillon/dispatch"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// checkedEngine is an engine that takes only jobs whose runs can get anywhere in this program.
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
func (e checkedEngine) Prepare(def *job.Definition) (*scheduler.Put, error) {
	if err := e.check(def.Target); err != nil {
		return nil, err
	}
	return e.Engine.Prepare(def)
}

func (e checkedEngine) check(t job.Target) error {
	switch {
	case t.Kind == job.TargetHTTP:
		return nil
	case t.Kind != job.TargetHandler:
		return job.Errorf(job.CodeInvalidTarget, "target.kind", "%q needs NATS, which an embedded scheduler is without; want handler or http", t.Kind)
	case e.dispatcher.Handles(t.Handler):
		return nil
	}
	known := "none is"
	if names := e.dispatcher.Handlers(); len(names) > 0 {
		known = "there are " + strings.Join(names, ", ")
	}
	return job.Errorf(job.CodeInvalidTarget, "target.name", "no handler %q is registered; %s", t.Handler, known)
}
