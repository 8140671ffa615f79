package main

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// background is a server that a script started.
type background struct {
	cmd    *exec.Cmd
	exited chan error
}

// serverKey is the key of a script's server, a *background, in the values of the script.
const serverKey = "server"

// cmdServer runs `carillon serve` with the given flags on free ports, waits for its ready line, and sets
// CARILLON_SERVER, HTTP and READY for the lines after it. Its log goes to the file serve.log.
func cmdServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("server cannot be negated; use '! exec carillon serve'")
	}
	for _, flag := range []string{"--listen", "--http-listen"} {
		if !slices.ContainsFunc(args, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") }) {
			args = append([]string{flag, "127.0.0.1:0"}, args...)
		}
	}
	args = append([]string{"serve"}, args...)
	cmd := scriptCommand(ts, "carillon", args...)
	log, err := os.Create(ts.MkAbs("serve.log"))
	ts.Check(err)
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	b := ts.Value(serverKey).(*background)
	b.cmd = cmd
	ts.Defer(func() { _ = cmd.Process.Kill(); _ = log.Close() })

	lines := make(chan string, 1)
	go func() {
		scanner := bufio.NewScanner(out)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		b.exited <- cmd.Wait()
	}()
	select {
	case line := <-lines:
		var ready struct {
			NATS string `json:"nats"`
			HTTP string `json:"http"`
		}
		ts.Check(json.Unmarshal([]byte(line), &ready))
		ts.Setenv("CARILLON_SERVER", ready.NATS)
		ts.Setenv("NATS_ADDR", strings.TrimPrefix(ready.NATS, "nats://"))
		ts.Setenv("HTTP_ADDR", strings.TrimPrefix(ready.HTTP, "http://"))
		ts.Setenv("HTTPS_ADDR", strings.TrimPrefix(ready.HTTP, "https://"))
		ts.Setenv("READY", line)
	case err := <-b.exited:
		ts.Fatalf("the server ended before it was ready: %v\n%s", err, ts.ReadFile("serve.log"))
	case <-time.After(patience):
		ts.Fatalf("no ready line after %s\n%s", patience, ts.ReadFile("serve.log"))
	}
}

// cmdHalt sends SIGTERM to the server and waits until it ends with status 0. It is not called stop, because that ends a
// script of testscript.
func cmdHalt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: halt")
	}
	b := ts.Value(serverKey).(*background)
	if b.cmd == nil {
		ts.Fatalf("no server is running")
	}
	ts.Check(b.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-b.exited:
		if err != nil {
			ts.Fatalf("the server ended with %v\n%s", err, ts.ReadFile("serve.log"))
		}
	case <-time.After(patience):
		ts.Fatalf("the server still runs %s after SIGTERM\n%s", patience, ts.ReadFile("serve.log"))
	}
}

// cmdHole starts a listener that accepts requests and never answers, and sets HOLE to its URL.
func cmdHole(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: hole")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = listener.Close() })
	ts.Setenv("HOLE", "http://"+listener.Addr().String())
}
