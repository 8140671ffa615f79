package snapshot

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// A change that takes long is reported while it is under way: it goes on only after that. By fake time the others take none.
func TestSlowChangesAreReported(t *testing.T) { synctest.Test(t, slowChangesAreReported) }

func slowChangesAreReported(t *testing.T) {
	told := make(chan string, 1)
	var slow errorfs.OpKind = errorfs.OpFileSync
	under := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == slow {
			within(t, "the report", func() { told <- <-told })
		}
		return nil
	}))
	fs := timedFS{under, time.Millisecond, func(path, operation string, _ time.Duration) { told <- operation + " " + path }}
	f, err := fs.Create("a", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != "sync a" {
		t.Errorf("%q is reported", got)
	}
	slow = errorfs.OpRemove
	if err := fs.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != "remove a" {
		t.Errorf("%q is reported", got)
	}
}

// A change that takes no time leaves no timer that reports it later.
func TestQuickChangesAreNotReported(t *testing.T) { synctest.Test(t, quickChangesAreNotReported) }

func quickChangesAreNotReported(t *testing.T) {
	told := make(chan string, 10)
	fs := timedFS{vfs.NewMem(), 50 * time.Millisecond, func(path, operation string, _ time.Duration) { told <- operation }}
	f, err := fs.Create("a", vfs.WriteCategoryUnspecified)
	if err == nil {
		_, err = f.Write([]byte("x"))
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
	fs.begin("later", "b") // its timer is later than theirs
	if got := <-told; got != "later" {
		t.Errorf("%q is reported", got)
	}
}
