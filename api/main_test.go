package api

import (
	"context"
	"github.com/carillon-io/carillon/api/apitest"
	"testing"
	"time"
)

// startService runs a service in front of an engine, and returns the URL of its NATS server.
func startService(t testing.TB, engine Engine, opts Options, maxPayload int32) (*Service, string) {
	t.Helper()
	url := apitest.StartNATS(t, maxPayload)
	nc := apitest.Connect(t, url)
	setDefault(&opts.Logger, apitest.Quiet)
	s, err := NewService(nc, engine, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s, url
}
