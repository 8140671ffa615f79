package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// workerKey is the key of a script's worker, a *background, in the values of the script.
const workerKey = "worker"

// cmdWorker starts `carillon worker` with the given flags and waits until it takes runs. Its log goes to the file
// worker.log.
func cmdWorker(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("worker cannot be negated; use 'status 1 carillon worker'")
	}
	log, err := os.Create(ts.MkAbs("worker.log"))
	ts.Check(err)
	b := ts.Value(workerKey).(*background)
	b.cmd = scriptCommand(ts, "carillon", append([]string{"worker", "--state", ts.MkAbs("locks")}, args...)...)
	b.cmd.Stderr = log
	ts.Check(b.cmd.Start())
	ts.Defer(func() { _ = b.cmd.Process.Kill(); _ = log.Close() })
	go func(cmd *exec.Cmd) { b.exited <- cmd.Wait() }(b.cmd)
	for end := time.Now().Add(patience); !strings.Contains(ts.ReadFile("worker.log"), "takes runs"); {
		select {
		case err := <-b.exited:
			ts.Fatalf("the worker ended: %v\n%s", err, ts.ReadFile("worker.log"))
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(end) {
			ts.Fatalf("the worker takes no runs after %s", patience)
		}
	}
}

// cmdEndWorker sends SIGTERM to the worker and waits until it ends with status 0.
func cmdEndWorker(ts *testscript.TestScript, neg bool, args []string) {
	b := ts.Value(workerKey).(*background)
	if neg || len(args) != 0 || b.cmd == nil {
		ts.Fatalf("usage: endworker, after worker")
	}
	ts.Check(b.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-b.exited:
		if err != nil {
			ts.Fatalf("the worker ended with %v\n%s", err, ts.ReadFile("worker.log"))
		}
	case <-time.After(patience):
		ts.Fatalf("the worker still runs %s after SIGTERM\n%s", patience, ts.ReadFile("worker.log"))
	}
}

// cmdKillWorker kills the worker, as the system does for want of memory.
func cmdKillWorker(ts *testscript.TestScript, neg bool, args []string) {
	b := ts.Value(workerKey).(*background)
	if neg || len(args) != 0 || b.cmd == nil {
		ts.Fatalf("usage: killworker, after worker")
	}
	ts.Check(b.cmd.Process.Kill())
	<-b.exited
}
