package datadir

import (
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLock: one owner at a time, and none after the lock is released, also if a program that is being started still has
// the file.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	first, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second lock: %v", err)
	}
	heir, err := unix.Dup(int(first.file.Fd())) // as a program has it that is being started
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(heir) }()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
