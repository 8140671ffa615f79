package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus"
)

// bareCmd is the process of the bare program: the least that a program that is punctual, or durable, over NATS costs on
// this machine. The others are told as a multiple of it. It runs the NATS server that Carillon runs, and talks to it over
// connections within the process, as Carillon does.
//
//   - It holds jobs in memory. It sleeps until the next one is due, publishes what is due, with the headers that Carillon sends,
//     and has the server confirm it by a PING. It records nothing: after a crash it would know neither the jobs nor what became
//     of them.
//   - It writes a request to a file and answers when the file is synced. Requests that come meanwhile share the next sync. It
//     checks that each is JSON, and understands nothing of it: nothing can be found or fired by what it has written.
//
// So it is no scheduler. A scheduler has to do both for each job, and more. It ends with its standard input.
type bareCmd struct {
	Data string `arg:""`
}

const (
	// bareGCPercent makes collections as rare as in Carillon's server with a small heap.
	bareGCPercent = 300
	// bareConnections is the bound on connections, with room to spare.
	bareConnections = 4 * clientsMax
)

func (c *bareCmd) run(in io.Reader, out io.Writer) error {
	debug.SetGCPercent(bareGCPercent)
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return err
	}
	b, err := bus.Open(context.Background(), bus.Options{
		Listen: "127.0.0.1:0", StoreDir: filepath.Join(c.Data, "nats"), ConnectionsMax: bareConnections,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer b.Close()
	conn, err := b.Connect("bare dispatch")
	if err != nil {
		return err
	}
	tick := newBareTick(conn)
	go tick.run()
	defer tick.stop()
	if err := c.serve(b, tick); err != nil {
		return err
	}
	fmt.Fprintln(out, b.URL())
	_, _ = io.Copy(io.Discard, in)
	return nil
}

// serve begins to take requests, and has the tick fire them.
func (c *bareCmd) serve(b *bus.Bus, tick *bareTick) error {
	log, err := openBareLog(filepath.Join(c.Data, bareFile))
	if err != nil {
		return err
	}
	go log.run()
	for subject, handle := range map[string]nats.MsgHandler{barePutSubject: log.take, bareHoldSubject: tick.take} {
		sub, err := b.API().Subscribe(subject, handle)
		if err != nil {
			return err
		}
		if err := sub.SetPendingLimits(-1, -1); err != nil {
			return err
		}
	}
	return b.API().Flush()
}

// bareEnd ends the process, which has no way to go on: who measures it sees that it is gone.
func bareEnd(what string, err error) {
	fmt.Fprintf(os.Stderr, "the bare program cannot %s: %v\n", what, err)
	os.Exit(1)
}

// bareAnswer answers a request: with nothing, or with what is wrong.
func bareAnswer(m *nats.Msg, wrong string) {
	if err := m.Respond([]byte(wrong)); err != nil {
		bareEnd("answer", err)
	}
}
