package worker

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// processSink is a variable of the test that is a sink, see TestMain.
const processSink = "CARILLON_TEST_WORKER_SINK"

// sinkCommand returns the process of a sink, for a worker of a test.
func sinkCommand() *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), processSink+"=1")
	return cmd
}

func startTestSink(t *testing.T) (*sink, *testkit.Buffer) {
	t.Helper()
	log := new(testkit.Buffer)
	s, err := startSink(sinkCommand(), loggerTo(log))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s, log
}

// output returns the two ends of the pipe of a command that a sink has.
func output(t *testing.T, s *sink) (read, write *os.File, number uint64) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = read.Close(); _ = write.Close() })
	return read, write, s.keep(read)
}

// TestSink: when the worker has died, a sink reads the outputs that were not complete, whatever is printed, and ends with
// them. Until then it reads nothing, and has no part in an output that is complete.
func TestSink(t *testing.T) {
	s, log := startTestSink(t)
	complete, late, number := output(t, s)
	left, printed, _ := output(t, s)
	if _, err := printed.WriteString("before"); err != nil {
		t.Fatal(err)
	}
	_ = complete.Close()
	s.drop(number)
	testkit.Until(t, "a process in the background has no reader", func() bool {
		_, err := late.WriteString("x")
		return errors.Is(err, syscall.EPIPE)
	})
	text := make([]byte, 100)
	if n, err := left.Read(text); err != nil || string(text[:n]) != "before" {
		t.Errorf("the worker reads %q, %v", text[:n], err)
	}

	_ = left.Close() // the worker dies
	s.mu.Lock()
	conn := s.conn
	s.conn = nil
	s.mu.Unlock()
	_ = conn.Close()
	if n, err := io.Copy(printed, strings.NewReader(strings.Repeat("progress\n", 100_000))); err != nil {
		t.Errorf("the command was stopped after %d bytes: %v", n, err)
	}
	_ = printed.Close()
	<-s.ended
	if log.String() != "" {
		t.Errorf("it logs %s", log)
	}
}

// TestSinkGone: a worker whose sink is gone says so once, and runs its commands as before.
func TestSinkGone(t *testing.T) {
	_, allow := place(t, commandsAllowed("echo done"))
	b := startWorker(t, allow, func(o *Options) { o.Sink = sinkCommand() })
	b.put("job", "echo done", nil)
	b.run("job", "succeeded")
	_ = b.sink.cmd.Process.Kill()
	testkit.Until(t, "it is logged", func() bool { return strings.Contains(b.log.String(), "the death of this worker is gone") })
	if run := b.run("job", "succeeded"); run.Result != "done" {
		t.Errorf("the output is %q", run.Result)
	}
	if err := b.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}
