package embedded

import (
	"context"
	"net/http"
	"sync"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler"
)

// door lets requests in while the scheduler is open, so that no request uses a closed store. It implements
// client.Local. The zero value is closed. A lock for reading is enough, because requests do not exclude each other;
// only opening and closing do.
type door struct {
	mu    sync.RWMutex // locked for reading by each request
	local *api.Local   // nil while the scheduler is not open
}

// Ask implements client.Local.
func (d *door) Ask(ctx context.Context, tenant, verb, by string, body []byte) ([]byte, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.local == nil {
		return nil, &client.Error{
			Code: client.CodeUnavailable, Status: http.StatusServiceUnavailable, Message: "the scheduler is closed; nothing was done",
		}
	}
	return d.local.Ask(ctx, tenant, verb, by, body)
}

func (d *door) set(local *api.Local) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.local = local
}

// shut waits for the requests that are under way and refuses later ones. A request that waits for a commit delays it,
// so the engine is stopped first, which fails such requests.
func (d *door) shut() { d.set(nil) }

// openDoor opens the door for requests to an engine, which need not run yet.
func (s *Scheduler) openDoor(engine *scheduler.Engine, zones *schedule.Zones) error {
	local, err := api.NewLocal(checkedEngine{engine, s.dispatcher}, api.Options{Node: api.Node{Version: "embedded"}, Rules: s.opts.rules(), Zones: zones, Logger: s.opts.Logger, Tracer: s.opts.Tracer})
	if err != nil {
		return err
	}
	s.door.set(local)
	return nil
}
