//go:build unix

package smallfile

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadNeverWaits: what is no regular file is refused at once, by its path and what it is. Without the open that does
// not block, the pipe would hold the test for ever.
func TestReadNeverWaits(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(syscall.Mkfifo(in("pipe"), 0o600), os.Symlink(in("pipe"), in("link")), os.Mkdir(in("directory"), 0o700)); err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for path, want := range map[string]string{
		in("pipe"): "it is a pipe; want a regular file", in("link"): "it is a pipe", in("directory"): "it is a directory", "/dev/zero": "it is a device",
		in("socket"): "", in("missing"): "no such file",
	} {
		_, err := Read(path, 10)
		if e, ok := errors.AsType[*fs.PathError](err); !ok || e.Path != path || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
}

// TestReadBounds: a file of exactly the bound is read, a larger one is refused.
func TestReadBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(path, 10); err != nil || string(text) != "0123456789" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := Read(path, 9); err == nil || !strings.Contains(err.Error(), "more than 9 bytes") {
		t.Errorf("a file that is too large: %v", err)
	}
}
