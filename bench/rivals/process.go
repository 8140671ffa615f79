package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/carillon-io/carillon/bench/ports"
)

// process is a server that runs beside this program.
type process struct {
	cmd    *exec.Cmd
	log    string // file with what it wrote to stderr
	exited chan struct{}
	err    error // of its end; good once exited is closed
}

// startProcess starts a server. Ctrl-C in a terminal does not reach it, and it ends with this program
// even if that is killed. Its standard output goes where the command says, or to the log.
func startProcess(cmd *exec.Cmd, log string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stderr = file
	if cmd.Stdout == nil {
		cmd.Stdout = file
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	endWithParent(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &process{cmd: cmd, log: log, exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process and its group, if it is still there, and returns when it is gone.
func (p *process) kill() {
	select {
	case <-p.exited:
		return // its number may be another process's by now
	default:
	}
	_ = syscall.Kill(-p.pid(), syscall.SIGKILL) // fails only if it is going just now
	<-p.exited
}

// firstLine returns the first line that a server prints once it is up, and kills it if that does not
// come.
func (p *process) firstLine(ctx context.Context, out io.Reader) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	defer context.AfterFunc(ctx, p.kill)()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		p.kill()
		return "", p.failure(p.cmd.Path + " did not start")
	}
	return lines.Text(), nil
}

// end asks the process to end, and kills it if it does not.
func (p *process) end(signal syscall.Signal, wait time.Duration) {
	_ = p.cmd.Process.Signal(signal)
	select {
	case <-p.exited:
	case <-time.After(wait):
	}
	p.kill()
}

// failure tells why a server did not come up, with the end of its log.
func (p *process) failure(what string) error {
	const most = 2000
	text, _ := os.ReadFile(p.log)
	return fmt.Errorf("%s; its log ends with:\n%s", what, text[max(0, len(text)-most):])
}

// await tries until a server answers.
func (p *process) await(ctx context.Context, name string, try func() error) error {
	for began := time.Now(); ; {
		err := try()
		if err == nil {
			return nil
		}
		if time.Since(began) > startWait {
			return p.failure(fmt.Sprintf("%s did not answer for %s: %v", name, startWait, err))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.exited:
			return p.failure(fmt.Sprintf("%s ended before it answered: %v", name, p.err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freePort returns a port of loopback on which no process listens.
func freePort() (int, error) {
	addrs, err := ports.Free(1)
	if err != nil {
		return 0, err
	}
	_, port, err := net.SplitHostPort(addrs[0])
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(port)
}
