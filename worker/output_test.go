package worker

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// slowReader is a writer of output that takes its time: for the output it is like a process that gets no processor.
type slowReader struct {
	tail
	wait time.Duration
}

// Write waits, once, and keeps the text.
func (s *slowReader) Write(p []byte) (int, error) {
	timer := time.NewTimer(s.wait)
	<-timer.C
	s.wait = 0
	return s.tail.Write(p)
}

// TestOutputOfABusyMachine: what a command has printed before its end is its output, even if it is read long after that, and
// a process in the background keeps the pipe open.
func TestOutputOfABusyMachine(t *testing.T) {
	for _, background := range []bool{false, true} {
		to := &slowReader{wait: outputDelay + 200*time.Millisecond}
		o, err := openOutput(to)
		if err != nil {
			t.Fatal(err)
		}
		command, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
		if background {
			command, err = dup(o.write)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer command.Close()
		if _, err := o.write.WriteString("first\n"); err != nil {
			t.Fatal(err)
		}
		late, err := dup(o.write)
		if err != nil {
			t.Fatal(err)
		}
		o.begin()
		// The reader is busy with the first line while the command prints the second one and ends.
		if _, err := late.WriteString("second\n"); err != nil {
			t.Fatal(err)
		}
		_ = late.Close()
		o.end()
		if got := to.text(100); got != "first\nsecond" {
			t.Errorf("background: %t: the output is %q", background, got)
		}
	}
}

// dup returns a second descriptor of a file.
func dup(f *os.File) (*os.File, error) {
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
