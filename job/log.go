package job

import "log/slog"

// Keys of log lines about a job or a run. They are the same everywhere, so that a search finds all lines. Payloads,
// results, header values and URLs of targets, which are often secrets, are never logged.
const (
	LogTenant  = "tenant"
	LogJob     = "job" // its name
	LogJobID   = "job_id"
	LogRun     = "run"
	LogAttempt = "attempt"
	LogFence   = "fence"
	LogEpoch   = "epoch"
	LogShard   = "shard" // its number; only where there are several

	LogCalendar = "calendar" // its name
)

// LogAttrs returns the attributes of a log line about an attempt: job, run and attempt. It allocates, so callers
// build it only for lines that are written.
func (d *Delivery) LogAttrs() []slog.Attr {
	return []slog.Attr{
		slog.String(LogTenant, d.Tenant), slog.String(LogJob, d.Name), slog.String(LogRun, d.Run.String()),
		slog.Uint64(LogAttempt, uint64(d.Attempt)), slog.Uint64(LogFence, d.Fence),
	}
}
