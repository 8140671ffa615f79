package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// holder is what a lock file says about the command that holds it.
type holder struct {
	RunID     string    `json:"run_id"`
	PID       int       `json:"pid"` // 0: not started yet
	StartedAt time.Time `json:"started_at"`
}

// holderBytesMax bounds what is read of a lock file.
const holderBytesMax = 4 << 10

// readHolder reads what a lock file says; what cannot be read is the zero value.
func readHolder(f *os.File) (h holder) {
	text, _ := io.ReadAll(io.LimitReader(f, holderBytesMax))
	_ = json.Unmarshal(text, &h)
	return h
}

// hasEnded reports whether the shell of the command has ended. It leads a process group, which tells it from a later process
// with its number, most of the time.
func (h holder) hasEnded() bool {
	group, err := syscall.Getpgid(h.PID)
	return errors.Is(err, syscall.ESRCH) || err == nil && group != h.PID
}

// heldError says that another process has the lock of a job, as the command of another run does.
type heldError struct {
	job  string
	path string
	by   holder
}

// Error implements error.
func (e *heldError) Error() string {
	since := e.by.StartedAt.UTC().Format(time.RFC3339)
	switch {
	case e.by.PID == 0:
		return fmt.Sprintf("the lock %s of %s is held by another process, so the command was not started", e.path, e.job)
	case e.by.hasEnded():
		return fmt.Sprintf("the command of run %s (since %s) has ended, but a process that it has left in the background holds the lock of the job, "+
			"so this one was not started; find that process by 'fuser %s' or 'lsof %s' and end it, or wait", e.by.RunID, since, e.path, e.path)
	}
	return fmt.Sprintf("the command of run %s (process %d, since %s) still runs, so this one was not started; end it, or wait", e.by.RunID, e.by.PID, since)
}
