package main

import (
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-io/carillon"
)

// recovery shows how far the start of a server is: on a terminal by a bar, which makes room for each line of
// the log, and elsewhere by lines of the log. It is safe for concurrent use.
type recovery struct {
	mu     sync.Mutex
	con    *console
	logger *slog.Logger // writes to this
	stage  carillon.RecoveryStage
	bar    *progress
	told   time.Time
}

// Write implements io.Writer, for the logger.
func (r *recovery) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.con.clearBar()
	return r.con.err.Write(p)
}

// tell is the server's OnRecovery.
func (r *recovery) tell(now carillon.Recovery) {
	if !r.show(now) {
		return
	}
	attrs := []any{slog.String("stage", string(now.Stage)), slog.Uint64("done", now.Done)}
	if now.All > 0 {
		attrs = append(attrs, slog.Uint64("of", now.All))
	}
	r.logger.Info("recovering", attrs...)
}

// show moves the bar, and tells whether a line of the log is due instead.
func (r *recovery) show(now carillon.Recovery) (logLine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Stage != r.stage {
		r.con.clearBar()
		r.stage, r.bar, r.told = now.Stage, r.newBar(now.Stage), time.Now()
	}
	if r.bar.isBar {
		r.bar.of(int64(now.Done), int64(now.All))
		return false
	}
	if time.Since(r.told) < progressAfter {
		return false
	}
	r.told = time.Now()
	return true
}

func (r *recovery) newBar(stage carillon.RecoveryStage) *progress {
	if stage == carillon.ReplayingLog {
		return newProgress(r.con, "commit", "replayed")
	}
	return newProgress(r.con, "job", "loaded")
}

// end takes the bar away.
func (r *recovery) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.con.clearBar()
}
