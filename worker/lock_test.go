package worker

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

func openTestLocks(t *testing.T, dir string) *locks {
	t.Helper()
	l, err := openLocks(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.close() })
	return l
}

// take takes the lock of a job that is free.
func take(t *testing.T, l *locks, job string) *lock {
	t.Helper()
	held, err := l.take("default", job, "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.file.Close() })
	return held
}

// TestLockThatSaysNothing: a lock whose file cannot say who holds it is held nevertheless, until it is released.
func TestLockThatSaysNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	held := take(t, openTestLocks(t, dir), "job")
	other, err := os.Open(filepath.Join(dir, held.name))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := held.write(holder{RunID: "run", PID: 1}); err == nil {
		t.Error("it was written into a directory that is gone")
	}
	if err := flock(other, syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("the lock was given up: %v", err)
	}
	if err := held.release(); err != nil {
		t.Error(err)
	}
}

// TestStateDirectoryRemoved: no command starts by a lock in a directory that was made again, because those that run hold
// locks in the former one.
func TestStateDirectoryRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	l := openTestLocks(t, dir)
	take(t, l, "job")
	for _, again := range []bool{false, true} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if again {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		_, err := l.take("default", "job", "other")
		testkit.Refuses(t, err, "the state directory "+dir+" was removed", "restart the worker")
	}
}

// TestStateDirectoryUnusable: the error says which directory it is.
func TestStateDirectoryUnusable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "")
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(file, "state"): "not a directory", open: "want chmod 700"} {
		_, err := openLocks(path)
		testkit.Refuses(t, err, want)
		if wrong, ok := errors.AsType[*StateError](err); !ok || wrong.Dir != path {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestHeldByBackground: a lock that only a process in the background of an ended command holds says how to find that one.
func TestHeldByBackground(t *testing.T) {
	l := openTestLocks(t, t.TempDir())
	held := take(t, l, "job")
	// The shell ends, and the process that it has left reads until the test ends.
	cmd := exec.Command("/bin/sh", "-c", "cat <&4 >/dev/null 2>&1 & echo $!")
	wait, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	cmd.ExtraFiles = []*os.File{held.file, wait}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if _, err := cmd.Output(); err != nil {
		t.Fatal(err)
	}
	_ = wait.Close()
	if err := held.write(holder{RunID: "run", PID: cmd.Process.Pid}); err != nil {
		t.Fatal(err)
	}
	_ = held.file.Close() // the worker was killed
	_, err = l.take("default", "job", "other")
	testkit.Refuses(t, err, "the command of run run (since ", "has ended", "in the background", "'fuser "+l.path(held.name)+"'")
	if strings.Contains(err.Error(), "still runs") {
		t.Errorf("it names a process that has ended: %v", err)
	}
	_ = end.Close()
	testkit.Until(t, "the lock is free", func() bool { return len(l.survivors()) == 0 })
}

// TestDescriptors: a command holds its lock by a descriptor that it cannot write to, and has none that the worker has
// inherited itself.
func TestDescriptors(t *testing.T) {
	dir, allow := place(t, "")
	inherited, err := syscall.Dup(0) // not marked, as those of a shell
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	command := "[ -e /dev/fd/3 ] || exit 3; [ ! -e /dev/fd/" + strconv.Itoa(inherited) + " ] || exit 4; if (echo x >&3) 2>/dev/null; then exit 5; fi"
	write(t, allow, commandsAllowed(command))
	b := startWorker(t, allow, nil)
	b.put("job", command, nil)
	b.run("job", "succeeded")
	if found, _ := filepath.Glob(filepath.Join(dir, "state", "*")); len(found) != 0 {
		t.Errorf("left in the state directory: %q", found)
	}
}
