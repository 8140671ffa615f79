package wal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A directory has one log, within a process too. Offline readers stay out of an open log.
func TestLocked(t *testing.T) {
	dir := newTestLog(t, 3)
	l := mustOpen(t, testOptions(dir))
	_, openErr := Open(testOptions(dir))
	_, verifyErr := Verify(dir)
	dumpErr := Dump(dir, 0, func(Frame) error { return nil })
	for _, err := range []error{openErr, verifyErr, dumpErr} {
		if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
			t.Errorf("got %v", err)
		}
	}
	mustClose(t, l)
	checkFrames(t, mustOpen(t, testOptions(dir)), 1, 3)
}

// A copy without a lock file can be verified, and gets none.
func TestVerifyWithoutLockFile(t *testing.T) {
	dir := writeContents(t, contents(t, newTestLog(t, 3)))
	if r, err := Verify(dir); err != nil || r.Frames != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(dir, lockName)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a lock file: %v", err)
	}
}

func TestVerifyNoLog(t *testing.T) {
	dir := t.TempDir()
	if r, err := Verify(dir); err != nil || r.Segments != 0 {
		t.Errorf("an empty directory: %+v, %v", r, err)
	}
	if _, err := Verify(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// Two processes: the second is refused while the first lives, and let in when it was killed.
func TestLockedByAnotherProcess(t *testing.T) {
	const env = "WAL_TEST_LOCK"
	if dir := os.Getenv(env); dir != "" {
		mustAppend(t, mustOpen(t, testOptions(dir)), 2)
		fmt.Println("appended")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	dir := filepath.Join(t.TempDir(), "wal")
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockedByAnotherProcess$")
	cmd.Env = append(os.Environ(), env+"="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "appended\n" {
		t.Fatalf("the other process: %q, %v", line, err)
	}
	_, err = Open(testOptions(dir))
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", cmd.Process.Pid)) {
		t.Errorf("got %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	checkFrames(t, mustOpen(t, testOptions(dir)), 1, 2)
}
