package main

import (
	"log/slog"
	"sync"
	"time"

	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/terminal"
)

// recovery shows how far the start of a server is: on a terminal by a bar, which is removed before each line of the
// log, and elsewhere by lines of the log. Safe for concurrent use. The log goes through it, since a line that is
// written beside the bar would be mixed with it.
type recovery struct {
	// mu orders the log, which any goroutine writes, with the bar.
	mu     sync.Mutex
	con    *console
	logger *slog.Logger // writes to this recovery
	// A new stage begins a new bar, because the numbers of two stages have nothing in common.
	stage server.RecoveryStage
	// bar is nil until the first stage.
	bar    *terminal.Progress
	logged time.Time // of the last line of the log about the stage
}

// Write implements io.Writer, for the logger.
func (r *recovery) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.con.clearBar()
	return r.con.err.Write(p)
}

// update is the option OnRecovery of the server. It is called often, from the goroutine of the start, and writes at
// most one line of the log in terminal.LineEvery.
func (r *recovery) update(now server.Recovery) {
	if !r.show(now) {
		return
	}
	attrs := []any{slog.String("stage", string(now.Stage)), slog.Uint64("done", now.Done)}
	if now.All > 0 {
		attrs = append(attrs, slog.Uint64("of", now.All))
	}
	r.logger.Info("recovering", attrs...)
}

// show redraws the bar if there is one, and reports whether a line of the log is due instead.
func (r *recovery) show(now server.Recovery) (logLine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Stage != r.stage {
		r.con.clearBar()
		r.stage, r.bar, r.logged = now.Stage, r.newBar(now.Stage), time.Now()
	}
	if r.bar.Bar {
		r.bar.Of(int64(now.Done), int64(now.All))
		return false
	}
	if time.Since(r.logged) < terminal.LineEvery {
		return false
	}
	r.logged = time.Now()
	return true
}

// newBar returns the progress of a stage of the start.
func (r *recovery) newBar(stage server.RecoveryStage) *terminal.Progress {
	if stage == server.ReplayingLog {
		return r.con.newProgress("commit", "replayed")
	}
	return r.con.newProgress("job", "loaded")
}

// end removes the bar.
func (r *recovery) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.con.clearBar()
}
