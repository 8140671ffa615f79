package scheduler

import (
	"context"
	"fmt"
	"maps"
	"testing"
)

// TestReadersAreNoted: what a leader notes of the nodes is there at the next start, and in a standby that follows; the
// table is bounded, and keeps those that read the oldest rows.
func TestReadersAreNoted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store, log := newMemStore(), &memLog{}
	opts, _ := startWorker(t, log, store, 1)
	e := must(Open(opts))
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	note := func(node string, rows byte) {
		t.Helper()
		if err := e.NoteReader(ctx, node, rows); err != nil {
			t.Fatal(err)
		}
	}
	note("a", 5)
	note("b", 4)
	note("b", 5)
	note("c", 5)
	note("c", 0)
	want := map[string]byte{"a": 5, "b": 5}
	if got := e.Status().Readers; !maps.Equal(got, want) {
		t.Errorf("noted is %v, want %v", got, want)
	}
	cancel()
	<-ended

	opts, _ = startWorker(t, log, store, 1)
	if got := must(Follow(opts)).Status().Readers; !maps.Equal(got, want) {
		t.Errorf("after a start %v, want %v", got, want)
	}
}

// TestReadersNotedAreBounded: a node that reads the newest rows gives way to one that reads older ones.
func TestReadersNotedAreBounded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	opts, _ := startWorker(t, &memLog{}, newMemStore(), 1)
	e := must(Open(opts))
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	for i := range 100 {
		if err := e.NoteReader(ctx, fmt.Sprint("n", i), 6); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.NoteReader(ctx, "old", 3); err != nil {
		t.Fatal(err)
	}
	if got := e.Status().Readers; len(got) != 64 || got["old"] != 3 {
		t.Errorf("%d nodes are noted, and old as %d; want 64 with old as 3", len(got), got["old"])
	}
}
