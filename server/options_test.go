package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/server"
)

// TestBadOptions starts servers with invalid settings: each is refused with the reason, before anything is
// made.
func TestBadOptions(t *testing.T) {
	for want, opts := range map[string]server.Options{
		"events are kept for 1s":                {EventsMaxAge: time.Second},
		"a stream of events of 1000 bytes":      {EventsMaxBytes: 1000},
		"the rate of catching up is -1":         {CatchupRate: -1},
		"the rate of catching up is 1000001":    {CatchupRate: 1_000_001},
		"the payload limit is -1":               {PayloadBytesMax: -1},
		"a target has 10001 attempts at a time": {MaxInFlight: 10_001},
		"the bound on HTTP connections is 15":   {HTTPConnections: 15},
		"want 16 to ":                           {HTTPConnections: 1 << 30},
		"a TLS certificate and its key":         {TLSCert: "cert.pem"},
		`the prefix "a.b" is no subject token`:  {Prefix: "a.b"},
	} {
		opts.Dir = filepath.Join(t.TempDir(), "data")
		s, err := server.Start(t.Context(), opts)
		if err == nil {
			_ = s.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := os.Stat(opts.Dir); err == nil {
			t.Errorf("%q: the data directory was made", want)
		}
	}
}
