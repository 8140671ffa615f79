package snapshot

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/carillon-io/carillon/scheduler/storetest"
)

// TestStoreSuite holds Pebble to the contract of every store.
func TestStoreSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Store {
		s := mustOpen(t, testOptions(vfs.NewMem()))
		t.Cleanup(func() { mustClose(t, s) })
		return s
	})
}

// fsChanges are the methods of vfs.FS that change files, which each guard must have, and fsReads the others.
var (
	fsChanges = []string{"Create", "Link", "MkdirAll", "OpenReadWrite", "Remove", "RemoveAll", "Rename", "ReuseForWrite"}
	fsReads   = []string{"GetDiskUsage", "List", "Lock", "Open", "OpenDir", "PathBase", "PathDir", "PathJoin", "Stat", "Unwrap"}
)

// TestGuardsKnowAllOfFS: a method that a new Pebble gives vfs.FS must be listed above, and the guards must have it if it
// changes files. Embedding would otherwise let it go by them.
func TestGuardsKnowAllOfFS(t *testing.T) {
	known := slices.Sorted(slices.Values(slices.Concat(fsChanges, fsReads)))
	if got := methodsOf(reflect.TypeFor[vfs.FS]()); !slices.Equal(got, known) {
		t.Errorf("vfs.FS has %q\nknown are %q", got, known)
	}
	if declares(reflect.TypeFor[guardedFS](), "Stat") {
		t.Fatal("an embedded method passes for one of the type's own")
	}
	for _, guard := range []reflect.Type{reflect.TypeFor[guardedFS](), reflect.TypeFor[exportingFS](), reflect.TypeFor[readOnlyFS]()} {
		for _, name := range append(slices.Clone(fsChanges), "Unwrap") {
			if !declares(guard, name) {
				t.Errorf("%s leaves %s to the file system in it", guard, name)
			}
		}
	}
}

// TestGuardedFilesKnowAllOfFile is the same for the files that are open for writing.
func TestGuardedFilesKnowAllOfFile(t *testing.T) {
	changes := []string{"Sync", "SyncData", "SyncTo", "Write", "WriteAt"}
	others := []string{"Close", "Fd", "Preallocate", "Prefetch", "Read", "ReadAt", "Stat"}
	known := slices.Sorted(slices.Values(slices.Concat(changes, others)))
	if got := methodsOf(reflect.TypeFor[vfs.File]()); !slices.Equal(got, known) {
		t.Errorf("vfs.File has %q\nknown are %q", got, known)
	}
	for _, name := range changes {
		if !declares(reflect.TypeFor[guardedFile](), name) {
			t.Errorf("guardedFile leaves %s to the file in it", name)
		}
	}
}

// methodsOf returns the names of an interface's methods, sorted.
func methodsOf(t reflect.Type) (names []string) {
	for i := range t.NumMethod() {
		names = append(names, t.Method(i).Name)
	}
	slices.Sort(names)
	return names
}

// declares reports whether a type has a method of its own, and not only that of a field that it embeds: the compiler writes
// the latter, and its code is in no file.
func declares(t reflect.Type, name string) bool {
	m, ok := t.MethodByName(name)
	if !ok {
		return false
	}
	file, _ := runtime.FuncForPC(m.Func.Pointer()).FileLine(m.Func.Pointer())
	return strings.HasSuffix(file, ".go")
}
