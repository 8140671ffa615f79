package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// demoPatience bounds how long a server of a demo may take to start, and to stop.
const demoPatience = 20 * time.Second

// demoServer is a server in a process of its own, so that the demo can kill it.
type demoServer struct {
	cmd    *exec.Cmd
	exited chan struct{}
	ready  demoReady
}

// demoReady is what the demo needs of the line that serve prints when it is ready.
type demoReady struct {
	NATS string `json:"nats"`
	HTTP string `json:"http"`
	Jobs int    `json:"jobs"`
}

// startDemoServer runs serve on a directory and two addresses, and waits until it is ready. The server has no settings of
// the environment: those of another server would change the demo.
func startDemoServer(ctx context.Context, con *console, dir, listen, httpListen string) (*demoServer, error) {
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	s := &demoServer{exited: make(chan struct{})}
	s.cmd = exec.Command(self, "serve", "--data", dir, "--listen", listen, "--http-listen", httpListen, "--allow-private-targets", "--log-level", "error")
	s.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "CARILLON_") })
	s.cmd.Stderr = con.err
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	ready := make(chan error, 1)
	go s.follow(out, ready)
	late := time.NewTimer(demoPatience)
	defer late.Stop()
	select {
	case err = <-ready:
	case <-late.C:
		err = fmt.Errorf("the server was not ready after %s", demoPatience)
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

// follow reads the line of the server, and the rest of its output until it ends.
func (s *demoServer) follow(out io.Reader, ready chan<- error) {
	defer close(s.exited)
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.ready)
	} else {
		err = errors.New("the server ended before it was ready; its log is above")
	}
	ready <- err
	_, _ = io.Copy(io.Discard, lines)
	_ = s.cmd.Wait() // it is killed, or stopped by the demo
}

// kill ends the process without a warning, as a power cut would, and waits for its end.
func (s *demoServer) kill() {
	_ = s.cmd.Process.Kill()
	<-s.exited
}

// stop ends the process as Ctrl-C would. It kills one that does not end.
func (s *demoServer) stop() {
	if s.cmd.Process.Signal(os.Interrupt) == nil {
		select {
		case <-s.exited:
			return
		case <-time.After(demoPatience):
		}
	}
	s.kill()
}
