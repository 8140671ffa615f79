package datadir

import (
	"os"
	"path/filepath"
	"testing"
)

// TestProven: the fact is kept for its cluster, and a file that cannot be read counts as the fact.
func TestProven(t *testing.T) {
	dir := t.TempDir()
	is := func(cluster string) bool {
		proven, err := ReadProven(dir, cluster)
		if err != nil {
			t.Fatal(err)
		}
		return proven
	}
	if is("prod") {
		t.Error("an empty directory has the fact")
	}
	for range 2 {
		if err := KeepProven(dir, "prod"); err != nil {
			t.Fatal(err)
		}
	}
	if !is("prod") || is("staging") {
		t.Error("the fact is not that of its cluster")
	}
	path := filepath.Join(dir, ProvenName)
	if text, err := os.ReadFile(path); err != nil || string(text) != `{"version":1,"cluster":"prod"}`+"\n" {
		t.Errorf("%s, %v", text, err)
	}
	for _, text := range []string{"", "{", `{"version":2,"whose":"prod"}`, `{"version":1}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if !is("prod") {
			t.Errorf("%q does not count", text)
		}
	}
}
