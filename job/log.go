package job

import "log/slog"

// The keys of log lines that are about a job or a run: the same everywhere, so that a search for one finds
// all. Payloads, results, header values and URLs of targets, which are often secrets, go into no line.
const (
	LogTenant  = "tenant"
	LogJob     = "job" // its name
	LogJobID   = "job_id"
	LogRun     = "run"
	LogAttempt = "attempt"
	LogFence   = "fence"
	LogEpoch   = "epoch"
)

// LogAttrs returns what a log line about an attempt carries: whose it is, and which.
func (d *Delivery) LogAttrs() []slog.Attr {
	return []slog.Attr{
		slog.String(LogTenant, d.Tenant), slog.String(LogJob, d.Name), slog.String(LogRun, d.Run.String()),
		slog.Uint64(LogAttempt, uint64(d.Attempt)), slog.Uint64(LogFence, d.Fence),
	}
}
