package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFill fills a small file system to the last byte. Who may not mount one has nothing to test.
func TestFill(t *testing.T) {
	dir := t.TempDir()
	if err := mountSmall(dir); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unmount(dir) })
	if err := fill(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "more"), []byte("x"), 0o600); err == nil {
		t.Error("there is room left")
	}
}
