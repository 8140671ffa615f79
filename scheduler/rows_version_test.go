package scheduler

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
)

// newerBatch is a commit with a row that a later release would write.
func newerBatch() []byte {
	var b job.Batch
	b.Put(job.AppendJobKey(nil, job.KindJob, 1), []byte{job.RowsVersion + 1, 0})
	return b.Bytes()
}

// TestNewerRowsAreNotApplied: a standby that meets a row of a later release stops before anything of the commit is in its
// store, and does not lead after that.
func TestNewerRowsAreNotApplied(t *testing.T) {
	store := newMemStore()
	opts, _ := startWorker(t, &memLog{}, store, 1)
	e := must(Follow(opts))
	if err := e.Apply(job.Position{LSN: 1, Epoch: 1}, newerBatch()); !errors.Is(err, job.ErrNewerRows) {
		t.Fatalf("a newer row is applied: %v, want ErrNewerRows", err)
	}
	if at := store.Applied().LSN; at != 0 {
		t.Errorf("the store is at commit %d, want nothing of it", at)
	}
	if err := e.Lead(); !errors.Is(err, job.ErrNewerRows) {
		t.Errorf("then it leads: %v, want ErrNewerRows", err)
	}
}

// TestNewerStoreIsNotOpened: a store that says that it has rows of a later release is refused.
func TestNewerStoreIsNotOpened(t *testing.T) {
	store := newMemStore()
	var b job.Batch
	b.PutMeta(core.MetaRows, job.RowsVersion+1)
	if err := store.Apply(job.Position{LSN: 1, Epoch: 1}, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	opts, _ := startWorker(t, &memLog{}, store, 1)
	if _, err := Follow(opts); !errors.Is(err, job.ErrNewerRows) {
		t.Errorf("it is opened: %v, want ErrNewerRows", err)
	}
}

// TestRowsOfAllNodes: a leader writes what every node of the cluster reads. A job that needs more is refused, with
// the name of the node; when that is upgraded the job is taken, and the store says which rows it has from then on.
func TestRowsOfAllNodes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	store := newMemStore()
	opts, _ := startWorker(t, &memLog{}, store, 1)
	var reads atomic.Uint32 // the engine's goroutine asks too
	reads.Store(job.RowsVersionUnmarked)
	opts.RowsMax = func(map[string]byte) (byte, string) { return byte(reads.Load()), "node-b" }
	e := must(Open(opts))
	ended := make(chan error, 1)
	go func() { ended <- e.Serve(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	d := job.Definition{
		Tenant: "default", Name: "places", Schedule: "@every 1h", Retry: job.Retry{MaxAttempts: 1},
		Target: job.Target{Kind: job.TargetHTTP, URL: "http://127.0.0.1:1/", Sign: "default/key"}, // of the newest version that a definition needs
	}
	if _, _, err := e.Put(ctx, &d, nil); err == nil || !strings.Contains(err.Error(), "node-b") {
		t.Fatalf("a job that node-b cannot read: %v, want a refusal that names node-b", err)
	}
	if rows := markedRows(t, store); rows != 0 {
		t.Errorf("the store says that it has rows of version %d, want nothing", rows)
	}
	needs, _ := job.RowsVersionOf(&d)
	reads.Store(uint32(needs)) // no node reads the index yet, which would be newer rows by itself
	if _, _, err := e.Put(ctx, &d, nil); err != nil {
		t.Fatal(err)
	}
	if rows := markedRows(t, store); rows != uint64(needs) {
		t.Errorf("the store says that it has rows of version %d, want %d", rows, needs)
	}
	if got := e.Status().RowsVersion; got != needs {
		t.Errorf("the status says that the rows have version %d, want %d", got, needs)
	}
	reads.Store(job.RowsVersionUnmarked)
	d.Name = "more places"
	if _, _, err := e.Put(ctx, &d, nil); err != nil {
		t.Errorf("another such job, while node-b reads older rows again and cannot follow anyway: %v", err)
	}
}

// markedRows returns what a store says of the version of its rows; 0: nothing.
func markedRows(t *testing.T, store Store) (version uint64) {
	return storedMeta(t, store, core.MetaRows)
}

// storedMeta returns the number of a meta row; 0: there is none.
func storedMeta(t *testing.T, store Store, name string) (n uint64) {
	t.Helper()
	value, ok, err := store.Get(job.AppendMetaKey(nil, name))
	if err == nil && ok {
		n, err = job.DecodeMeta(value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}
