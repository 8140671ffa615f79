package server

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// TestProfile: profiles are served where they were asked for, and only to this machine.
func TestProfile(t *testing.T) {
	addr := bustest.FreeAddrs(t, 1)[0]
	o := Options{
		Dir: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", ProfileListen: addr, Logger: testLog(),
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if page := testkit.Get(t, "http://"+addr+"/debug/pprof/goroutine?debug=1"); !strings.Contains(page.Body, "goroutine profile") {
		t.Errorf("%d %.100s", page.Status, page.Body)
	}
	_, port, _ := net.SplitHostPort(addr)
	for host, want := range map[string]int{"localhost:" + port: 200, addr: 200, "evil.example": 421, "evil.example:" + port: 421, "localhost.evil.example": 421} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/debug/pprof/cmdline", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		reply, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want {
			t.Errorf("a request for %s gets %d; want %d", host, reply.StatusCode, want)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	o.ProfileListen = "0.0.0.0:6060"
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "127.0.0.1:6060") {
		t.Errorf("profiles on a public address: %v", err)
	}
}
