package testkit

import (
	"os"
	"path/filepath"
	"testing"
)

// CopyDir copies a directory to a new place, which is removed when the test ends, and returns that. The directory may be in
// use: the copy is what a crash of the process would leave, if nothing writes meanwhile.
func CopyDir(t testing.TB, dir string) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(image, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return image
}
