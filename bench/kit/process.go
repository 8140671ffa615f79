package kit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// stopMax is how long a process may take to end after SIGTERM. A server that hands over or makes a last checkpoint
// needs a few seconds; one that takes longer hangs.
const stopMax = 30 * time.Second

// Launch says how a process starts. It is a value and may be used for several starts.
type Launch struct {
	Name     string // in errors
	Program  string // path
	Args     []string
	Log      string        // path of a file to which its stderr is appended
	ReadyMax time.Duration // how long AwaitReady waits
	// A network of namespaces starts the command in one of them by it.
	Start func(*exec.Cmd) error // starts the command; nil is its method Start
}

// Process is one life of a program that prints a line of JSON with "ready": true on its standard output. All methods
// may be called concurrently. One goroutine, begun by Spawn, reads the output and waits for the exit; the channels
// that it closes publish the two results. Each process is ended by Kill or Stop, or it outlives this program.
type Process struct {
	Name string
	Log  string // path of the file with its stderr

	cmd *exec.Cmd
	// readyMax counts from the call of AwaitReady, not from the start.
	readyMax time.Duration
	ready    chan struct{} // closed when the ready line has come
	line     []byte        // the ready line; valid once ready is closed
	exited   chan struct{} // closed when the process has ended
	err      error         // exit status; valid once exited is closed
}

// Spawn starts a process in a process group of its own, and does not wait until it is ready.
func (l Launch) Spawn() (*Process, error) {
	stderr, err := os.OpenFile(l.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	// The process has a descriptor of its own.
	defer stderr.Close()
	cmd := exec.Command(l.Program, l.Args...)
	cmd.Stderr = stderr
	cmd.SysProcAttr = ownGroup()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &Process{Name: l.Name, Log: l.Log, cmd: cmd, readyMax: l.ReadyMax, ready: make(chan struct{}), exited: make(chan struct{})}
	start := l.Start
	if start == nil {
		start = (*exec.Cmd).Start
	}
	if err := start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", l.Name, err)
	}
	go p.watch(stdout)
	return p, nil
}

// watch reads stdout to its end and then waits for the exit status. It reads on after the ready line, because a
// process whose output is not read blocks when the pipe is full.
func (p *Process) watch(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		var line struct {
			Ready bool `json:"ready"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Ready {
			p.line = slices.Clone(lines.Bytes())
			close(p.ready)
			break
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	p.err = p.cmd.Wait()
	close(p.exited)
}

// AwaitReady waits for the ready line. An error has the end of the process's log. It does not end the process, and may
// be called again.
func (p *Process) AwaitReady() error {
	select {
	case <-p.ready:
		return nil
	case <-p.exited:
		return p.Ended()
	case <-time.After(p.readyMax):
		return fmt.Errorf("%s was not ready after %s; the end of its log:\n%s", p.Name, p.readyMax, Tail(p.Log))
	}
}

// ReadyLine waits for the ready line, and reads it into v as JSON. Its errors are those of AwaitReady and of the JSON.
func (p *Process) ReadyLine(v any) error {
	if err := p.AwaitReady(); err != nil {
		return err
	}
	return json.Unmarshal(p.line, v)
}

// Exited returns a channel that is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// IsGone reports whether the process has ended.
func (p *Process) IsGone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Err returns the exit status of a process that has ended: nil is success.
func (p *Process) Err() error {
	<-p.exited
	return p.err
}

// Ended returns an error for a process that has ended and should not have, with the end of its log. It waits until the
// process has ended.
func (p *Process) Ended() error {
	return fmt.Errorf("%s ended by itself: %v; the end of its log:\n%s", p.Name, p.Err(), Tail(p.Log))
}

// Kill ends the process with SIGKILL and waits until it has ended. It may be called for a process that has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only if the process has already ended
	<-p.exited
}

// Stop ends the process with SIGTERM. It returns an error if the process has ended before, does not end within 30 s, or
// ends with a failure; then, too, it is gone.
func (p *Process) Stop() error {
	if p.IsGone() {
		return p.Ended()
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("SIGTERM to %s: %w", p.Name, err)
	}
	select {
	case <-p.exited:
	case <-time.After(stopMax):
		p.Kill()
		return fmt.Errorf("%s was still there %s after SIGTERM; the end of its log:\n%s", p.Name, stopMax, Tail(p.Log))
	}
	if p.err != nil {
		return fmt.Errorf("%s ended badly after SIGTERM: %w; the end of its log:\n%s", p.Name, p.err, Tail(p.Log))
	}
	return nil
}

// Tail returns the end of a text file, or the text of the error if it cannot be read. It is for messages: 4,000 bytes
// have the last error and its surroundings.
func Tail(path string) string {
	const most = 4000
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
