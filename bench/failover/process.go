package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Bounds of what a process may take its time for.
const (
	readyWait = 60 * time.Second
	stopWait  = 30 * time.Second
)

// process is one life of a program that prints a ready line.
type process struct {
	name   string
	log    string // path of its log
	cmd    *exec.Cmd
	ready  chan struct{} // closed when the ready line has come
	exited chan struct{} // closed when the process is gone
	err    error         // of its end; good once exited is closed
}

// spawn starts a process at a site, and does not wait for it to be ready. Its stderr is added to a file.
func spawn(at site, name, log, program string, args []string) (*process, error) {
	stderr, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd := exec.Command(program, args...)
	cmd.Stderr = stderr
	cmd.SysProcAttr = ownGroup()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, log: log, cmd: cmd, ready: make(chan struct{}), exited: make(chan struct{})}
	if err := at.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go p.watch(stdout)
	return p, nil
}

// watch reads stdout to its end and then takes in the exit status.
func (p *process) watch(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var line struct {
			Ready bool `json:"ready"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Ready {
			close(p.ready)
			break
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	p.err = p.cmd.Wait()
	close(p.exited)
}

// awaitReady returns when the ready line has come.
func (p *process) awaitReady() error {
	select {
	case <-p.ready:
		return nil
	case <-p.exited:
		return p.ended()
	case <-time.After(readyWait):
		return fmt.Errorf("%s was not ready after %s; the end of its log:\n%s", p.name, readyWait, tail(p.log))
	}
}

// ended tells of a process that is gone and should not be.
func (p *process) ended() error {
	return fmt.Errorf("%s ended by itself: %v; the end of its log:\n%s", p.name, p.err, tail(p.log))
}

// isGone tells whether the process has ended.
func (p *process) isGone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// kill ends the process with SIGKILL and returns when it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if the process is gone already
	<-p.exited
}

// stop ends the process with SIGTERM. An error says that it did not end in good order.
func (p *process) stop() error {
	if p.isGone() {
		return p.ended()
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("SIGTERM to %s: %w", p.name, err)
	}
	select {
	case <-p.exited:
	case <-time.After(stopWait):
		p.kill()
		return fmt.Errorf("%s was still there %s after SIGTERM; the end of its log:\n%s", p.name, stopWait, tail(p.log))
	}
	if p.err != nil {
		return fmt.Errorf("%s ended badly after SIGTERM: %w; the end of its log:\n%s", p.name, p.err, tail(p.log))
	}
	return nil
}

// tail returns the end of a text file, as far as it can be read.
func tail(path string) string {
	const most = 3000
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
