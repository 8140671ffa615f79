package embedded_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/carillon-io/carillon/embedded"
	"github.com/carillon-io/carillon/testkit"
)

// TestOpenOfDamage: an Open that meets damage in the middle leaves nothing running, and the next one reports the damage again,
// or opens the directory if the file was put back.
func TestOpenOfDamage(t *testing.T) {
	dir := t.TempDir()
	o := embedded.Options{Handlers: handlers{"h": succeed}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	s := open(t, dir, o)
	for i := range 50 {
		j := yearly(fmt.Sprint("j", i), "h")
		j.Schedule = "@every 1h"
		put(t, s, j)
	}
	mustClose(t, s)
	files, err := filepath.Glob(filepath.Join(dir, "shards", "0", "store", "*.sst"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the store has the tables %q, %v; want one", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte(nil), whole...)
	damaged[len(damaged)/2] ^= 0x40 // of a block that is read when the engine loads its rows
	if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 3 {
		_, err := embedded.Open(dir, o)
		testkit.Refuses(t, err, "load rows", filepath.Base(files[0])+": it is damaged")
	}
	testkit.Until(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
	if err := os.WriteFile(files[0], whole, 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, o)
	if _, err := s.Get(t.Context(), "j49"); err != nil {
		t.Error(err)
	}
	mustClose(t, s)
}
