package worker

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

const (
	// outputDelay is how long the output of a process that a command has left in the background is still read, and how long
	// its input is still written.
	outputDelay = time.Second
	// groupPoll is how often an ended group is looked at until all of its processes are gone.
	groupPoll = 20 * time.Millisecond
)

// process is a command that was started, in a session and a process group of its own.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the shell has ended
	err  error         // how it ended; valid after done
}

// watchProcess returns the process of a command that was started. It is done when its output is complete.
func watchProcess(cmd *exec.Cmd, output *outputPipe) *process {
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		if errors.Is(p.err, exec.ErrWaitDelay) {
			p.err = nil // a process in the background has the input; the shell has ended well
		}
		output.end()
		close(p.done)
	}()
	return p
}

// signal sends a signal to the process group. The group is that of the shell, whose number the kernel does not use
// again while one of its processes lives.
func (p *process) signal(s syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, s) }

// end ends the process group: SIGTERM, and SIGKILL after the grace or when hurry is closed. It returns when the shell has
// ended and the others of its group are gone or killed.
func (p *process) end(grace time.Duration, hurry <-chan struct{}) {
	_ = p.signal(syscall.SIGTERM)
	timer, poll := time.NewTimer(grace), time.NewTicker(groupPoll)
	defer timer.Stop()
	defer poll.Stop()
	done := p.done
	for gone := false; !gone; {
		select {
		case <-hurry:
			gone = true
		case <-timer.C:
			gone = true
		case <-done:
			done = nil // the rest of the group may live
		case <-poll.C:
			gone = done == nil && errors.Is(p.signal(0), syscall.ESRCH)
		}
	}
	_ = p.signal(syscall.SIGKILL)
	<-p.done
}

// how returns how the shell ended: "exit status 3", "ended by SIGKILL"; "" is success. success lists the exit statuses
// that are one besides 0.
func (p *process) how(success []int) string {
	exit, ok := errors.AsType[*exec.ExitError](p.err)
	if p.err == nil {
		return ""
	}
	if !ok {
		return p.err.Error()
	}
	status, _ := exit.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return "ended by " + signalName(status.Signal())
	}
	for _, s := range success {
		if s == status.ExitStatus() {
			return ""
		}
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}

// signalName returns the name of a signal as kill(1) has it.
func signalName(s syscall.Signal) string {
	names := map[syscall.Signal]string{
		syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGQUIT: "SIGQUIT", syscall.SIGILL: "SIGILL", syscall.SIGABRT: "SIGABRT",
		syscall.SIGFPE: "SIGFPE", syscall.SIGKILL: "SIGKILL", syscall.SIGBUS: "SIGBUS", syscall.SIGSEGV: "SIGSEGV", syscall.SIGPIPE: "SIGPIPE",
		syscall.SIGALRM: "SIGALRM", syscall.SIGTERM: "SIGTERM", syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ",
	}
	if name := names[s]; name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}
