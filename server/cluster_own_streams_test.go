package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/datadir"
)

// TestLoneStreamsArePutAside: the streams of a node alone outlive its becoming a member.
func TestLoneStreamsArePutAside(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	o := nodes[0]
	b, err := bus.Open(t.Context(), busOptions(Options{Dir: o.Dir, Listen: "127.0.0.1:0", Logger: discard}.withDefaults()))
	if err != nil {
		t.Fatal(err)
	}
	js, err := b.API().JetStream()
	if err == nil {
		_, err = js.AddStream(&nats.StreamConfig{Name: "ORDERS", Subjects: []string{"orders"}})
	}
	if err == nil {
		_, err = js.Publish("orders", []byte("one"))
	}
	b.Close()
	if err != nil {
		t.Fatal(err)
	}
	if streams, err := datadir.LoneStreams(o.Dir); err != nil || !slices.Equal(streams, []string{"$G/ORDERS"}) {
		t.Fatalf("%v, %v", streams, err)
	}
	for range 2 { // the second, after a start that was cut short, begins anew
		if err := datadir.SetNATSAside(o.Dir, datadir.Identity{}, true, discard); err != nil {
			t.Fatal(err)
		}
		if isThere(filepath.Join(o.Dir, "nats")) {
			t.Fatal("the streams of the node alone are still in the place of a member's")
		}
	}
	if err := os.Mkdir(filepath.Join(o.Dir, "nats"), 0o750); err != nil { // of a start that is refused
		t.Fatal(err)
	}
	if err := datadir.PutNATSBack(o.Dir); err != nil {
		t.Fatal(err)
	}
	if streams, err := datadir.LoneStreams(o.Dir); err != nil || !slices.Equal(streams, []string{"$G/ORDERS"}) {
		t.Fatalf("after a refused start: %v, %v", streams, err)
	}
	if err := errors.Join(datadir.SetNATSAside(o.Dir, datadir.Identity{}, true, discard), datadir.KeepNATSAside(o.Dir, discard), datadir.PutNATSBack(o.Dir)); err != nil {
		t.Fatal(err)
	}
	aside, err := filepath.Glob(filepath.Join(o.Dir, "nats.replaced-*"))
	if err != nil || len(aside) != 1 {
		t.Fatalf("%v, %v", aside, err)
	}
	old := filepath.Join(t.TempDir(), "nats")
	if err := os.Rename(aside[0], old); err != nil {
		t.Fatal(err)
	}
	if b, err = bus.Open(t.Context(), busOptions(Options{Dir: filepath.Dir(old), Listen: "127.0.0.1:0", Logger: discard}.withDefaults())); err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	js, err = b.API().JetStream()
	if err == nil {
		_, err = js.GetMsg("ORDERS", 1)
	}
	if err != nil {
		t.Errorf("what was put aside: %v", err)
	}
	member, err := bus.Embed(busOptions(o))
	if err != nil {
		t.Fatal(err)
	}
	member.Close()
	if !isThere(filepath.Join(o.Dir, "nats", "jetstream", "$SYS", "_js_", "_meta_")) {
		t.Error("a member is not known by its directory")
	}
}
