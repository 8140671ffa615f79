package worker

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// Variables of the test that is a worker in a process of its own.
const (
	processServer = "CARILLON_TEST_WORKER_SERVER"
	processAllow  = "CARILLON_TEST_WORKER_ALLOW"
	processName   = "CARILLON_TEST_WORKER_NAME"
)

// TestWorkerProcess is the program of TestKilled.
func TestWorkerProcess(t *testing.T) {
	allow := os.Getenv(processAllow)
	if allow == "" {
		t.Skip("it is a program of another test")
	}
	nc, c := clienttest.Connect(t, serverURL)
	_, err := Start(Options{
		Conn: nc, Client: c, Name: os.Getenv(processName), Allow: allow, State: filepath.Join(filepath.Dir(allow), "state"),
		Heartbeat: 50 * time.Millisecond, Logger: loggerTo(os.Stderr), Sink: sinkCommand(),
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("takes runs")
	<-t.Context().Done() // it is killed
	select {}
}

// TestKilled kills a worker with a running command. The run is given up by the server, the next one fails by name while the
// command lives, which prints to its end, and the one after that runs.
func TestKilled(t *testing.T) {
	dir, allow := place(t, "")
	path := filepath.Join(dir, "gate")
	makeGate(t, path)
	command := gate(path) + "; dd if=/dev/zero bs=1024 count=1000 && echo x >> " + path + ".finished"
	write(t, allow, commandsAllowed(command))
	t.Setenv(processServer, serverURL)
	t.Setenv(processName, nameOf(t))
	in, out, cmd := testkit.StartTest(t.Context(), t, "TestWorkerProcess", processAllow+"="+allow)
	defer func() { _ = in.Close() }()
	said := bufio.NewScanner(out)
	for said.Scan() && said.Text() != "takes runs" {
	}
	nc, c := clienttest.Connect(t, serverURL)
	b := &bench{t: t, dir: dir, conn: nc, c: c, name: nameOf(t)}
	b.put("job", command, func(j *client.Job) { j.AttemptTimeout = client.Duration(200 * time.Millisecond) })
	first := b.trigger("job")
	begun(t, path)
	locks := openTestLocks(t, filepath.Join(dir, "state"))
	testkit.Until(t, "the lock names the command", func() bool {
		held := locks.survivors()
		return len(held) == 1 && held[0].by.PID != 0
	})
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if run := b.await(first.RunID, "dead"); !strings.Contains(run.Error, "report") {
		t.Errorf("the run of the killed worker: %s", run.Error)
	}

	b = startWorker(t, allow, nil)
	if !strings.Contains(b.log.String(), "the command of an earlier worker still runs") {
		t.Errorf("the start says nothing:\n%s", b.log)
	}
	if run := b.run("job", "dead"); !strings.Contains(run.Error, "the command of run "+first.RunID+" (process ") {
		t.Errorf("beside the command that was left: %s", run.Error)
	}
	open(t, path)
	testkit.Until(t, "the lock is free", func() bool { return len(b.locks.survivors()) == 0 })
	if n := len(lines(path + ".finished")); n != 1 {
		t.Errorf("the command that was left has finished %d times", n)
	}
	third := b.trigger("job")
	testkit.Until(t, "it has begun again", func() bool { return len(lines(path+".begun")) == 2 })
	open(t, path)
	b.await(third.RunID, "succeeded")
}

// TestDrain: a worker that is to end takes no runs and waits for its commands.
func TestDrain(t *testing.T) {
	b, path := gated(t, nil)
	run := b.trigger("job")
	begun(t, path)
	drained := make(chan error, 1)
	go func() { drained <- b.Drain(context.Background()) }()
	testkit.Until(t, "it drains", func() bool { return strings.Contains(b.log.String(), "takes no further runs") })
	b.put("late", "true", nil)
	if late := b.run("late", "dead"); late.Error == "" {
		t.Error("a run was taken")
	}
	open(t, path)
	if err := testkit.Receive(t, drained); err != nil {
		t.Error(err)
	}
	if b.await(run.RunID, "succeeded").Attempt != 1 {
		t.Error("not at its first attempt")
	}
}

// TestDrainTimeout: when the time of a drain is over, the commands are ended and their runs reported.
func TestDrainTimeout(t *testing.T) {
	dir, allow := place(t, "")
	pids := filepath.Join(dir, "pids")
	write(t, allow, commandsAllowed(stubborn(pids), "true"))
	b := startWorker(t, allow, func(o *Options) { o.Parallel = 1 })
	b.put("job", stubborn(pids), nil)
	b.put("waits", "true", nil)
	run := b.trigger("job")
	testkit.Until(t, "it runs", func() bool { return exists(pids) })
	waits := b.trigger("waits")
	testkit.Until(t, "two are here", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.turns) == 2 })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Drain(over); err != nil {
		t.Error(err)
	}
	if !isGone(pids) {
		t.Error("its processes live")
	}
	if run = b.await(run.RunID, "dead"); !strings.HasPrefix(run.Error, "the worker was ended (ended by SIGKILL)") {
		t.Error(run.Error)
	}
	if waits = b.await(waits.RunID, "dead"); !strings.Contains(waits.Error, "before it could start") {
		t.Error(waits.Error)
	}
}

// TestEndNow: the second signal kills the commands without their grace.
func TestEndNow(t *testing.T) {
	dir, allow := place(t, "")
	pids := filepath.Join(dir, "pids")
	write(t, allow, commandsAllowed(stubborn(pids)))
	b := startWorker(t, allow, func(o *Options) { o.Grace = GraceMax })
	b.put("job", stubborn(pids), nil)
	run := b.trigger("job")
	testkit.Until(t, "it runs", func() bool { return exists(pids) })
	b.EndNow()
	if err := b.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	b.await(run.RunID, "dead")
	if !isGone(pids) {
		t.Error("its processes live")
	}
}
