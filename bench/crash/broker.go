package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startBroker runs a NATS server with JetStream in this process, which outlives the deaths of the server under test.
// Its streams are not synced more often than by default, because its process does not die.
func startBroker(dir string) (*server.Server, error) {
	s, err := server.NewServer(&server.Options{
		ServerName: "crash", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: dir,
	})
	if err != nil {
		return nil, fmt.Errorf("start NATS: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return nil, errors.New("start NATS: it did not become ready")
	}
	return s, nil
}
