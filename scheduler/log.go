package scheduler

import (
	"context"
	"log/slog"

	"github.com/carillon-io/carillon/job"
)

// warn tells that something about a job was not done: which job, and in which epoch.
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

// sayZones tells that the rules of zones changed.
func (e *Engine) sayZones(ch *zoneChange) {
	if len(ch.changed) == 0 {
		return
	}
	e.opts.Logger.Warn("the rules of timezones changed; the jobs of these zones follow",
		slog.Any("zones", ch.changed[:min(len(ch.changed), zonesSaid)]), slog.Int("count", len(ch.changed)),
		slog.String("from", versionText(ch.from)), slog.String("to", versionText(ch.to)), slog.Uint64(job.LogEpoch, e.core.epoch))
}

// zonesSaid is how many names of zones a log line has.
const zonesSaid = 20

// knownEpoch returns the epoch as of the last step. Any goroutine may ask.
func (e *Engine) knownEpoch() uint64 {
	e.gauge.mu.Lock()
	defer e.gauge.mu.Unlock()
	return e.gauge.status.Epoch
}
