package main

import (
	"context"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdStream runs a NATS server with a JetStream stream and no Carillon, and sets CARILLON_SERVER: stream NAME SUBJECT.
func cmdStream(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: stream name subject")
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: ts.MkAbs("jetstream"),
	})
	ts.Check(err)
	s.Start()
	ts.Defer(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		ts.Fatalf("NATS does not get ready")
	}
	nc, err := nats.Connect(s.ClientURL())
	ts.Check(err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: args[0], Subjects: args[1:], Storage: jetstream.MemoryStorage})
	ts.Check(err)
	ts.Setenv("CARILLON_SERVER", s.ClientURL())
}
