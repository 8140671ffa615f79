package server

import (
	"context"
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
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	o.ProfileListen = "0.0.0.0:6060"
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "127.0.0.1:6060") {
		t.Errorf("profiles on a public address: %v", err)
	}
}
