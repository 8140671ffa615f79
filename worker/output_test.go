package worker

import (
	"os"
	"syscall"
	"testing"
)

// heldTail is an output that takes nothing until it is released: for the pipe it is like a worker without a processor.
type heldTail struct {
	tail
	release chan struct{}
}

// Write waits until the output is released, and keeps the text.
func (h *heldTail) Write(p []byte) (int, error) {
	<-h.release
	return h.tail.Write(p)
}

// TestOutputOfABusyMachine: what a command has printed before its end is its output, even if it is read after the worker has
// given up waiting for more, because a process in the background keeps the pipe open.
func TestOutputOfABusyMachine(t *testing.T) {
	to := &heldTail{release: make(chan struct{})}
	o, err := openOutput(to, nil)
	if err != nil {
		t.Fatal(err)
	}
	command := dup(t, o.write)
	background := dup(t, o.write)
	defer background.Close()
	if _, err := command.WriteString("first\n"); err != nil {
		t.Fatal(err)
	}
	o.begin()
	if _, err := command.WriteString("second\n"); err != nil {
		t.Fatal(err)
	}
	_ = command.Close()
	o.giveUp()
	close(to.release)
	<-o.over
	if got := to.text(100); got != "first\nsecond" {
		t.Errorf("the output is %q", got)
	}
}

// dup returns a second descriptor of a file.
func dup(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}
