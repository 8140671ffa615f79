package server

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/testkit"
)

// TestProvenDirectory: a member whose peers prove who they are does not start without, unless it is meant.
func TestProvenDirectory(t *testing.T) {
	o := Options{Dir: t.TempDir(), ClusterName: "prod", Routes: []string{"127.0.0.1:6223"}, Logger: testLog()}.withDefaults()
	if err := o.checkProven(); err != nil {
		t.Errorf("a new directory: %v", err)
	}
	(&Server{opts: o}).keepNothing(t)
	o.ClusterPassword = "tower"
	if err := (&Server{opts: o}).keepProven(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := o.checkProven(); err != nil {
		t.Errorf("with the password: %v", err)
	}
	o.ClusterPassword = ""
	_, err := newServer(o)
	testkit.Refuses(t, err, "CARILLON_CLUSTER_PASSWORD", "--cluster-tls-cert", "--insecure", filepath.Join(o.Dir, datadir.ProvenName))
	if _, ok := errors.AsType[*OptionsError](err); !ok {
		t.Errorf("%T; want an error of the options, for the exit status", err)
	}
	for name, change := range map[string]func(*Options){
		"--insecure": func(o *Options) { o.Insecure = true }, "certificates": func(o *Options) { o.ClusterTLS = certs.Files{CA: "ca"} },
		"outside": func(o *Options) { o.NATSURL = "nats://n" },
	} {
		other := o
		change(&other)
		if err := other.checkProven(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// keepNothing: a node without a proof does not keep that there is one.
func (s *Server) keepNothing(t *testing.T) {
	if err := s.keepProven(t.Context()); err != nil {
		t.Fatal(err)
	}
	if proven, err := datadir.ReadProven(s.opts.Dir, s.opts.ClusterName); proven || err != nil {
		t.Errorf("an open node keeps a proof: %v", err)
	}
}
