//go:build unix

package server_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
)

// TestOthersReadNoFile: with any umask, nothing in the data directory can be reached by other users: neither in a
// directory that the server makes, nor in one that was there with a mode of its own.
func TestOthersReadNoFile(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	made, found := filepath.Join(t.TempDir(), "made"), filepath.Join(t.TempDir(), "found")
	if err := os.Mkdir(found, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{made, found} {
		opts := options(dir)
		opts.Events, opts.CheckpointEvery = true, time.Second
		s, err := server.Start(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		_, c := connect(t, s)
		if _, _, err := c.Put(t.Context(), client.Job{Name: "a", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "x"}}); err != nil {
			t.Fatal(err)
		}
		backup, err := c.OpenBackup(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		checkModes(t, dir, dir == made)
		backup.Close()
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
		checkModes(t, dir, dir == made)
	}
}

// checkModes checks that each file below a directory has a mode for its owner alone, or is in a directory that has. The
// directory itself counts only if the server made it.
func checkModes(t *testing.T, dir string, whole bool) {
	t.Helper()
	checked := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir && !whole {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		checked++
		isOpen := info.Mode().Perm()&0o077 != 0
		if isOpen {
			t.Errorf("%s has mode %04o", strings.TrimPrefix(path, filepath.Dir(dir)), info.Mode().Perm())
		}
		if e.IsDir() && !isOpen && path != dir {
			return fs.SkipDir // what is in it cannot be reached
		}
		return nil
	})
	if err != nil || checked < 4 {
		t.Errorf("%d files checked: %v", checked, err)
	}
}
