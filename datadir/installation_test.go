package datadir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstallationStays reads the id again, and refuses an invalid file.
func TestInstallationStays(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	id, err := OpenInstallation(dir)
	if err != nil || !isClusterID(id) {
		t.Fatalf("%q, %v", id, err)
	}
	if again, err := OpenInstallation(dir); err != nil || again != id {
		t.Errorf("%q, %v; want %q again", again, err, id)
	}
	if another, err := OpenInstallation(other); err != nil || another == id {
		t.Errorf("another directory is %q, %v", another, err)
	}
	golden, err := os.ReadFile("testdata/INSTALLATION-v1")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(golden): "", "": "no JSON object", "{": "no JSON object", `{"version":2,"id":"` + id + `"}`: "version 2",
		`{"version":1,"id":"short"}`: "no id", `{"version":1}`: "no id", strings.Repeat(" ", installationBytesMax+1): "want at most",
	} {
		if err := os.WriteFile(filepath.Join(dir, InstallationName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := OpenInstallation(dir)
		if want == "" && (err != nil || got != "000102030405060708090a0b0c0d0e0f") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %q, %v; want %q", text, got, err, want)
		}
	}
}
