package server

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/bus"
)

// TestOwnHasEveryListener opens every kind of listener of a server.
func TestOwnHasEveryListener(t *testing.T) {
	t.Parallel()
	o := nodeOptions(t, 2)[0]
	o.ProfileListen = "127.0.0.1:0"
	s := &Server{opts: o}
	for _, open := range []func() error{
		func() error { return s.listen(t.Context()) },
		func() error { return s.openProfile(t.Context()) },
		func() (err error) { s.bus, err = bus.Embed(busOptions(o)); return err },
	} {
		if err := open(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = s.listener.Close(), s.profile.Close() })
	t.Cleanup(s.bus.Close)
	want := []netip.AddrPort{netip.MustParseAddrPort(o.ClusterListen)}
	for _, addr := range []net.Addr{s.listener.Addr(), s.profileListener.Addr(), s.bus.Addrs()[0]} {
		want = append(want, netip.MustParseAddrPort(addr.String()))
	}
	own := s.own()
	for _, at := range want {
		if !slices.Contains(own, at) {
			t.Errorf("%s is not among %v", at, own)
		}
	}
}

// TestListenersAreKnown fails when this package or the bus gets a listener that own may not know.
func TestListenersAreKnown(t *testing.T) {
	files, err := filepath.Glob("*.go")
	ofBus, err2 := filepath.Glob("../bus/*.go")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	files = append(ofBus, files...)
	var found []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), "net.Listen(") {
			found = append(found, name)
		}
	}
	// That of the bus only probes, and is closed again.
	if want := []string{"../bus/embedded.go", "profile.go", "server.go"}; !slices.Equal(found, want) {
		t.Errorf("%v listen; want %v: a new listener belongs into own, so that no job is sent to it", found, want)
	}
}
