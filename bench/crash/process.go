package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/carillon-io/carillon/bench/history"
	"github.com/carillon-io/carillon/bench/kit"
)

// launcher starts processes of the product, one after another, on one data directory. Not for concurrent use: the data
// directory has one process at a time.
type launcher struct {
	binary string
	dir    string // directory of the run, with the data directory and the log of stderr
	// args are those of every process; spawn adds to them.
	args []string
}

// ready is the line that the server prints when it is ready.
type ready struct {
	Epoch uint64 `json:"epoch"`
}

// readyWait is the longest time for a start. A recovery replays at most the commits since the last checkpoint, which
// takes far less.
const readyWait = 30 * time.Second

// process is one process of the server, from its start to its end.
type process struct {
	*kit.Process
	began history.Instant
}

// dataDir returns the directory that all processes share, one after another.
func (l *launcher) dataDir() string { return filepath.Join(l.dir, "data") }

// spawn starts a process and does not wait until it is ready. The further arguments are for this process
// only.
func (l *launcher) spawn(more ...string) (*process, error) {
	began := history.Now()
	p, err := kit.Launch{
		Name: "the server", Program: l.binary, Args: slices.Concat([]string{"serve", "--data", l.dataDir()}, l.args, more),
		Log: filepath.Join(l.dir, "stderr.log"), ReadyMax: readyWait,
	}.Spawn()
	return &process{p, began}, err
}

// kill ends the process with SIGKILL and waits until it has ended. The two instants are taken around the signal, so
// the death lies between them.
func (p *process) kill() history.Death {
	d := history.Death{Sent: history.Now()}
	p.Kill()
	d.Gone = history.Now()
	return d
}

// stop ends the process with SIGTERM. It returns an error if the process does not end in time, or with a
// failure.
func (p *process) stop() (history.Death, error) {
	d := history.Death{Sent: history.Now()}
	err := p.Stop()
	d.Gone, d.Clean = history.Now(), err == nil
	return d, err
}

// verifyLog runs `wal verify` of the product, and returns its complaint; "" if the log is intact. The server must be
// down.
func (l *launcher) verifyLog() string {
	out, err := exec.Command(l.binary, "wal", "verify", l.dataDir()).CombinedOutput()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("wal verify: %v\n%s", err, out)
}
