package scheduler

import (
	"context"
	"log/slog"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// warn logs what could not be done for a job, with the job's id and the epoch. It reads the names of the job from the
// store, so only the work beside the loop may call it.
func (e *Engine) warn(message string, id job.ID, err error) {
	attrs := []slog.Attr{slog.Any("error", err), slog.Uint64(job.LogEpoch, e.knownEpoch())}
	if id != 0 {
		attrs = append(attrs, slog.String(job.LogJobID, id.String()))
		if rec, _, ok, err := e.readRows(id); ok && err == nil {
			attrs = append(attrs, slog.String(job.LogTenant, rec.Def.Tenant), slog.String(job.LogJob, rec.Def.Name))
		}
	}
	e.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, message, attrs...)
}

// logZones logs that the rules of zones changed.
func (e *Engine) logZones(t *core.Takeover) {
	if len(t.Zones) == 0 {
		return
	}
	e.opts.Logger.Warn("the rules of timezones changed; the jobs of these zones follow",
		slog.Any("zones", t.Zones[:min(len(t.Zones), zonesLogged)]), slog.Int("count", len(t.Zones)),
		slog.String("from", t.ZonesFrom), slog.String("to", t.ZonesTo), slog.Uint64(job.LogEpoch, e.core.Epoch()))
}

// zonesLogged bounds the names of zones in one log line. A new release of the rules can change dozens of zones at
// once.
const zonesLogged = 20

// knownEpoch returns the epoch as of the last step. It is safe for concurrent use.
func (e *Engine) knownEpoch() uint64 {
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	return e.gauge.status.Epoch
}
