package snapshot_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/snapshot"
)

// A commit is visible when Apply returns and durable when a later Checkpoint does; then the log may
// drop it.
func Example() {
	parent, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)

	store, err := snapshot.Open(snapshot.Options{Dir: filepath.Join(parent, "store")})
	if err != nil {
		panic(err)
	}
	defer store.Close()

	var batch job.Batch
	batch.PutName("acme", "bells/noon", 7)
	batch.PutName("acme", "bells/vespers", 8)
	if err := store.Apply(job.Position{LSN: 1, Epoch: 1}, batch.Bytes()); err != nil {
		panic(err)
	}
	fmt.Println("applied", store.Applied().LSN, "durable", store.Durable().LSN)

	durable, err := store.Checkpoint(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println("applied", store.Applied().LSN, "durable", durable.LSN)

	names := job.AppendNameKey(nil, "acme", "bells/")
	err = store.Scan(names, job.PrefixEnd(names), func(key, value []byte) (bool, error) {
		_, name, err := job.ParseNameKey(key)
		fmt.Println(name)
		return true, err
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// applied 1 durable 0
	// applied 1 durable 1
	// bells/noon
	// bells/vespers
}
