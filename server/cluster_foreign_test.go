package server

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/testkit"
)

// TestForeignThings: foreign streams and messages do not harm the cluster, and are named.
func TestForeignThings(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dir := t.TempDir()
	a := p.start("a", dir)
	b := p.start("b", t.TempDir())
	if err := p.nc.Publish("carillon.log.0", []byte("no frame")); err != nil {
		t.Fatal(err)
	}
	p.put("x")
	p.level(a, b)
	for _, s := range []*Server{a, b} {
		testkit.Until(p.t, "the alien message is counted", func() bool { return p.info(s).Cluster.Void["alien"] == 1 })
	}
	refuses := func(what, want string, change func(*Options)) {
		t.Helper()
		o := p.options("c", t.TempDir())
		change(&o)
		s, err := Start(t.Context(), o)
		if err == nil {
			_ = s.Close(context.Background())
			t.Errorf("%s was taken", what)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want something about %q", what, err, want)
		}
	}
	refuses("another cluster's stream", "carries the log of cluster", func(o *Options) { o.ClusterName = "test" })
	refuses("a name that is taken", "--node", func(o *Options) { o.Node = "a" })
	other := newTroupe(t)
	s := other.start("c", t.TempDir())
	moved := s.dir.Dir()
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	refuses("another cluster's data", "empty data directory", func(o *Options) { o.Dir = moved })
	if _, err := os.Stat(filepath.Join(moved, storePath)); err != nil {
		t.Error(err)
	}
}

// TestJetStreamWithoutRoom: servers that cannot hold the log are an error that names the size and the flag.
func TestJetStreamWithoutRoom(t *testing.T) {
	s := bustest.Run(t, "port: -1\njetstream { store_dir: \"%s\", max_file_store: 10485760 }\nmax_payload: 4194304\n")
	p := &troupe{t: t, url: s.ClientURL()}
	got, err := Start(t.Context(), p.options("a", t.TempDir()))
	if err == nil {
		_ = got.Close(context.Background())
		t.Fatal("a log of 1 GiB was put into 10 MiB")
	}
	if !strings.Contains(err.Error(), "--stream-bytes-max") {
		t.Error(err)
	}
}
