package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// TestNobodyReadsTheLog starts a server whose standard error is a full pipe: it becomes ready, answers callers, also one whose request
// makes it log a line, and ends in good order.
func TestNobodyReadsTheLog(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "carillon", "serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--log-level", "debug")
	cmd.Stderr = fullPipe(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var ready struct {
		NATS string `json:"nats"`
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &ready) != nil {
		t.Fatalf("no ready line, but %q", lines.Text())
	}
	nc, err := nats.Connect(ready.NATS)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	// The server answers to no other subjects than those of requests, and logs the first that it drops.
	if err := nc.PublishRequest("carillon.v1.default.jobs.get", "carillon.v1.default.jobs.get", []byte(`{"name":"a"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.RequestWithContext(ctx, "carillon.v1.default.jobs.get", []byte(`{"name":"a"}`)); err != nil {
		t.Errorf("a request has no answer: %v", err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// fullPipe returns the end of a pipe that nobody reads, and that has no room.
func fullPipe(t *testing.T) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	fd := int(w.Fd())
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = syscall.Write(fd, make([]byte, 1<<10))
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestStandardLog prints as the transport of net/http does when a target sends bytes that nobody asked for: they are not shown, and
// other lines are.
func TestStandardLog(t *testing.T) {
	var b bytes.Buffer
	adoptStandardLog(slog.New(slog.NewTextHandler(&b, nil)))
	t.Cleanup(func() { log.SetFlags(log.LstdFlags); log.SetOutput(os.Stderr) })
	for range 3 {
		log.Printf("Unsolicited response received on idle HTTP channel starting with %q; err=<nil>", "Authorization: Bearer topsecret")
	}
	log.Print("something else")
	if text := b.String(); strings.Contains(text, "topsecret") || strings.Count(text, "unsolicited bytes") != 1 || !strings.Contains(text, "something else") {
		t.Errorf("the log is\n%s", text)
	}
}

// TestLogOfAStandstill drops lines while nobody reads them: the status warns of it.
func TestLogOfAStandstill(t *testing.T) {
	con := &console{err: fullPipe(t)}
	con.unblock()
	if w := con.logWarnings(); w != nil {
		t.Errorf("warnings before: %q", w)
	}
	for range 3 {
		_, _ = con.err.Write(make([]byte, 1<<20))
	}
	if w := con.logWarnings(); len(w) != 1 || !strings.Contains(w[0], "the log is not read") {
		t.Errorf("warnings are %q", w)
	}
	con.log.Close(time.Millisecond)
}
