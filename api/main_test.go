package api

import (
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
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
	apitest.CloseAtEnd(t, s.Close)
	return s, url
}
