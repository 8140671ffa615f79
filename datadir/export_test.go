package datadir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/wal"
)

// TestExportMarks: a copy of the store makes it durable, and the log notes that it was durable up to there.
func TestExportMarks(t *testing.T) {
	dir := t.TempDir()
	p := openPartsIn(t, dir)
	want := appendOne(t, p)
	at, err := p.Export(t.Context(), filepath.Join(t.TempDir(), "copy"))
	if err != nil || at != want {
		t.Fatalf("the copy is at %v, want %v; %v", at, want, err)
	}
	copied := filepath.Join(t.TempDir(), LogName) // as a kill leaves it
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(dir, LogName))); err != nil {
		t.Fatal(err)
	}
	if r, err := wal.Verify(copied); err != nil || r.Watermark != want {
		t.Errorf("%+v, %v", r, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
