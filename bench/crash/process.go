package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/carillon-io/carillon/bench/crash/history"
)

// launcher starts processes of the product, one after another, on one data directory.
type launcher struct {
	binary string
	dir    string // directory of the run, with the data directory and the log of stderr
	args   []string
}

// ready is the line that the server prints when it is ready.
type ready struct {
	Ready bool   `json:"ready"`
	Epoch uint64 `json:"epoch"`
}

// The longest times for a start and for a stop.
const (
	readyWait = 30 * time.Second
	stopWait  = 30 * time.Second
)

// process is one process of the server, from its start to its end.
type process struct {
	cmd    *exec.Cmd
	began  history.Instant
	lines  chan ready    // receives the ready line; closed when stdout ends
	exited chan struct{} // closed when the process has ended
	err    error         // exit status; valid once exited is closed
}

func (l *launcher) dataDir() string { return filepath.Join(l.dir, "data") }

func (l *launcher) stderrPath() string { return filepath.Join(l.dir, "stderr.log") }

// spawn starts a process and does not wait until it is ready. The further arguments are for this process
// only.
func (l *launcher) spawn(more ...string) (*process, error) {
	stderr, err := os.OpenFile(l.stderrPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd := exec.Command(l.binary, slices.Concat([]string{"serve", "--data", l.dataDir()}, l.args, more)...)
	cmd.Stderr = stderr
	cmd.SysProcAttr = ownGroup()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, began: history.Now(), lines: make(chan ready, 1), exited: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	go p.watch(stdout)
	return p, nil
}

// watch reads stdout to its end and then waits for the exit status.
func (p *process) watch(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var r ready
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Ready {
			p.lines <- r
			break
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	close(p.lines)
	p.err = p.cmd.Wait()
	close(p.exited)
}

// awaitReady waits for the ready line and returns it.
func (p *process) awaitReady() (ready, error) {
	select {
	case r, ok := <-p.lines:
		if !ok {
			<-p.exited
			return ready{}, fmt.Errorf("the server ended before it was ready: %v", p.err)
		}
		return r, nil
	case <-time.After(readyWait):
		return ready{}, fmt.Errorf("the server was not ready after %s", readyWait)
	}
}

// kill ends the process with SIGKILL and waits until it has ended.
func (p *process) kill() history.Death {
	d := history.Death{Sent: history.Now()}
	_ = p.cmd.Process.Kill() // fails only if the process has already ended
	<-p.exited
	d.Gone = history.Now()
	return d
}

// stop ends the process with SIGTERM. It returns an error if the process does not end in time, or with a
// failure.
func (p *process) stop() (history.Death, error) {
	d := history.Death{Sent: history.Now(), Clean: true}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return d, fmt.Errorf("SIGTERM: %w", err)
	}
	select {
	case <-p.exited:
	case <-time.After(stopWait):
		d = p.kill()
		return d, fmt.Errorf("the server was still there %s after SIGTERM", stopWait)
	}
	d.Gone = history.Now()
	if p.err != nil {
		d.Clean = false
		return d, fmt.Errorf("the server ended badly after SIGTERM: %w", p.err)
	}
	return d, nil
}

// isGone reports whether the process has ended.
func (p *process) isGone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// verifyLog runs `wal verify` of the product, and returns its complaint; "" if the log is intact.
func (l *launcher) verifyLog() string {
	out, err := exec.Command(l.binary, "wal", "verify", l.dataDir()).CombinedOutput()
	if err == nil {
		return ""
	}
	return fmt.Sprintf("wal verify: %v\n%s", err, out)
}
