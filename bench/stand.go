package bench

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/nats-io/nats.go"
)

// stand holds what all workloads share: the binary, the directory, the output. A workload gets a copy with a bounded
// context if it must end by itself.
type stand struct {
	ctx context.Context // ends on Ctrl-C; a workload then reports its partial figures
	// program is how this harness starts itself again, as the receiving process.
	program Program
	binary  string
	// dir is empty at first, and removed by the caller.
	dir  string
	seed uint64
	// out gets the results, progress the lines that say how far a workload is.
	out      io.Writer
	progress io.Writer
}

// say prints a line about the progress.
func (s *stand) say(format string, args ...any) { fmt.Fprintf(s.progress, format+"\n", args...) }

// show prints the result of a workload, and marks it if the workload was interrupted.
func (s *stand) show(r *result) *result {
	r.Interrupted = s.ctx.Err() != nil
	r.print(s.out)
	return r
}

// start starts a server on an empty data directory, and connects a client. The caller clears the server at the end.
func (s *stand) start(name string, flags ...string) (*server, *client.Client, error) {
	srv, err := startServer(s.binary, filepath.Join(s.dir, name), flags...)
	if err != nil {
		return nil, nil, err
	}
	c, err := connect(srv)
	if err != nil {
		srv.kill()
		return nil, nil, err
	}
	return srv, c, nil
}

// connect returns a client that is connected to a server's NATS.
func connect(srv *server) (*client.Client, error) {
	return client.Connect(srv.ready.NATS, client.Options{}, nats.Name("bench"))
}

// wait waits, or returns early if the workload is interrupted.
func (s *stand) wait(d time.Duration) {
	select {
	case <-s.ctx.Done():
	case <-time.After(d):
	}
}

// asking returns a context for the requests at the end of a workload, which are made even after an interruption.
// Without the detachment from the interruption, a workload that is ended by Ctrl-C could not report what it has.
func (s *stand) asking() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(s.ctx), time.Minute)
}

// within returns an error for a value out of range. It is for the Validate methods, which the parser calls before
// the workload runs.
func within(flag string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("--%s is %d; want %d to %d", flag, value, low, high)
	}
	return nil
}
