package datadir

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestSessionKey: the key stays, nobody else reads it, and a damaged one is replaced.
func TestSessionKey(t *testing.T) {
	dir := t.TempDir()
	open := func() []byte {
		t.Helper()
		key, err := OpenSessionKey(dir)
		if err != nil || len(key) != 32 {
			t.Fatalf("a key of %d bytes, %v", len(key), err)
		}
		return key
	}
	path, first := filepath.Join(dir, SessionKeyName), open()
	if !bytes.Equal(open(), first) {
		t.Error("another start has another key")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	for _, text := range []string{"", "00", "no key", string(bytes.Repeat([]byte("0"), 66))} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if key := open(); bytes.Equal(key, first) || !bytes.Equal(open(), key) {
			t.Errorf("%q: the key is not a new one that stays", text)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSessionKey(dir); err == nil {
		t.Error("a directory is a key")
	}
}
