package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestOutcomes: a run ends as its command does, and says so.
func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct{ command, status, want string }{
		"output":     {"echo hello; echo there >&2", "succeeded", "hello\nthere"},
		"silence":    {"true", "succeeded", ""},
		"status":     {"echo no disk; exit 3", "dead", "exit status 3: no disk"},
		"signal":     {"kill -KILL $$", "dead", "ended by SIGKILL"},
		"background": {"sleep 1000 & echo $!", "succeeded", "*"},
		"unknown":    {"no-such-program-here", "dead", "exit status 127: *"},
		"long":       {`i=0; while [ $i -lt 3000 ]; do echo "äöü $i"; i=$((i+1)); done; exit 1`, "dead", "exit status 1: *äöü 2999"},
		"bytes":      {`printf '\377\033[31m\n'`, "succeeded", "??[31m"},
	} {
		t.Run(name, func(t *testing.T) {
			_, allow := place(t, commandsAllowed(c.command))
			b := startWorker(t, allow, nil)
			b.put("job", c.command, nil)
			run := b.run("job", c.status)
			got := run.Result + run.Error
			begin, end, _ := strings.Cut(c.want, "*")
			if !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) || !strings.Contains(c.want, "*") && got != c.want {
				t.Errorf("it says %q; want %q", got, c.want)
			}
			if len(got) > 512 || !utf8.ValidString(got) {
				t.Errorf("%d bytes, valid: %t", len(got), utf8.ValidString(got))
			}
			if name == "background" { // it is left alone, as cron does, and keeps no lock
				pid, _ := strconv.Atoi(strings.TrimSpace(got))
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Errorf("the process in the background: %v", err)
				}
			}
		})
	}
}

// TestRefused: what may not run is refused for good, whatever the job says of attempts.
func TestRefused(t *testing.T) {
	_, allow := place(t, commandsAllowed("true"))
	b := startWorker(t, allow, nil)
	for name, c := range map[string]struct {
		payload, want string
		set           func(*client.Job)
	}{
		"command":   {`{"command": "rm -rf /"}`, `the command "rm -rf /" is not in `, nil},
		"variable":  {`{"command": "true", "env": {"LD_PRELOAD": "x"}}`, `the job sets LD_PRELOAD="x"`, nil},
		"user":      {`{"command": "true", "user": "bin"}`, "and not as bin", nil},
		"input":     {`{"command": "true", "stdin": "x"}`, "is not in", nil},
		"member":    {`{"command": "true", "shell": "bash"}`, `unknown field "shell"`, nil},
		"empty":     {`{}`, "the command is missing", nil},
		"delivered": {`{"command": "true"}`, `completion "reported"`, func(j *client.Job) { j.Completion = "" }},
	} {
		b.put(name, "", func(j *client.Job) {
			j.Payload, j.Retry.MaxAttempts = []byte(c.payload), 3
			if c.set != nil {
				c.set(j)
			}
		})
		if run := b.run(name, "dead"); !strings.Contains(run.Error, c.want) || run.Attempt != 1 {
			t.Errorf("%s: attempt %d: %s; want %q", name, run.Attempt, run.Error, c.want)
		}
	}
	if strings.Contains(b.log.String(), "started") {
		t.Errorf("something ran:\n%s", b.log)
	}
}

// stubborn is a command that writes its process and its child's to a file and ignores SIGTERM, as its child does.
func stubborn(path string) string {
	return "trap '' TERM; sleep 1000 & echo $$ $! > " + path + ".new; mv " + path + ".new " + path + "; wait; wait; sleep 1000"
}

// isGone reports whether no process has the numbers in a file. A zombie is gone: it waits for its parent alone.
func isGone(path string) bool {
	for _, pid := range lines(path) {
		text, err := os.ReadFile("/proc/" + pid + "/stat")
		if err == nil && !strings.Contains(string(text), ") Z ") {
			return false
		}
		number, _ := strconv.Atoi(pid)
		if _, noProc := os.Stat("/proc/self"); noProc != nil && syscall.Kill(number, 0) == nil {
			return false
		}
	}
	return len(lines(path)) > 0
}

// TestCancel: a cancellation ends the whole process group, SIGTERM ignored or not.
func TestCancel(t *testing.T) {
	dir, allow := place(t, "")
	pids := filepath.Join(dir, "pids")
	write(t, allow, commandsAllowed(stubborn(pids)))
	b := startWorker(t, allow, nil)
	b.put("job", stubborn(pids), nil)
	run := b.trigger("job")
	testkit.Until(t, "it runs", func() bool { return exists(pids) })
	if _, err := b.c.CancelRun(t.Context(), run.RunID); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "its processes are gone", func() bool { return isGone(pids) })
	b.await(run.RunID, "cancelled")
	testkit.Until(t, "it is logged", func() bool { return strings.Contains(b.log.String(), "the run is over for the server") })
}

// TestTimeout: a rule's timeout ends a command, and the run says so.
func TestTimeout(t *testing.T) {
	_, allow := place(t, "commands: [{command: 'echo begun; sleep 1000', user: "+ownUser()+", timeout: 100ms}]")
	b := startWorker(t, allow, nil)
	b.put("job", "echo begun; sleep 1000", nil)
	if run := b.run("job", "dead"); !strings.HasPrefix(run.Error, "it took longer than its timeout (ended by SIGTERM)") {
		t.Error(run.Error)
	}
}

// gate is a command that waits until the test opens it.
func gate(path string) string { return "echo x >> " + path + ".begun; read x < " + path }

func makeGate(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) { t.Helper(); write(t, path, "x\n") }

// gated starts a worker with a job that waits at a gate.
func gated(t *testing.T, set func(*client.Job)) (b *bench, path string) {
	t.Helper()
	dir, allow := place(t, "")
	path = filepath.Join(dir, "gate")
	makeGate(t, path)
	write(t, allow, commandsAllowed(gate(path), "true"))
	b = startWorker(t, allow, nil)
	b.put("job", gate(path), set)
	return b, path
}

// begun waits until the command at a gate has begun.
func begun(t *testing.T, path string) {
	t.Helper()
	testkit.Until(t, "the command has begun", func() bool { return len(lines(path+".begun")) > 0 })
}

// TestLongerThanItsAttempt: heartbeats extend a run beyond the attempt_timeout of its job, and it is launched once.
func TestLongerThanItsAttempt(t *testing.T) {
	b, path := gated(t, func(j *client.Job) {
		j.AttemptTimeout, j.Retry.MaxAttempts = client.Duration(50*time.Millisecond), 3
	})
	run := b.trigger("job")
	begun(t, path)
	first := b.await(run.RunID, "running")
	testkit.Until(t, "its deadline has moved twice", func() bool {
		now, err := b.c.Run(t.Context(), run.RunID)
		return err == nil && now.Deadline.Sub(first.Deadline.Time) > 200*time.Millisecond
	})
	open(t, path)
	if run := b.await(run.RunID, "succeeded"); run.Attempt != 1 || len(lines(path+".begun")) != 1 {
		t.Errorf("attempt %d, begun %d times", run.Attempt, len(lines(path+".begun")))
	}
}

// deliver sends the delivery of a run again, and returns the answer.
func (b *bench) deliver(run client.Run, fence uint64, command string) *nats.Msg {
	b.t.Helper()
	m := nats.NewMsg("cron." + b.name + ".x")
	m.Data = []byte(fmt.Sprintf(`{"command": %q}`, command))
	m.Header.Set("Carillon-Run-Id", run.RunID)
	m.Header.Set("Carillon-Job", run.Job)
	m.Header.Set("Carillon-Fence", strconv.FormatUint(fence, 10))
	ctx, cancel := context.WithTimeout(b.t.Context(), testkit.Patience)
	defer cancel()
	answer, err := b.conn.RequestMsgWithContext(ctx, m)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer
}

// TestDuplicate: a delivery that comes again starts nothing, neither while the command runs nor after its end.
func TestDuplicate(t *testing.T) {
	b, path := gated(t, nil)
	run := b.trigger("job")
	begun(t, path)
	run = b.await(run.RunID, "running")
	for range 3 {
		if answer := b.deliver(run, run.Fence, gate(path)); answer.Header.Get("Nats-Service-Error") != "" {
			t.Errorf("while it runs: %v", answer.Header)
		}
	}
	open(t, path)
	b.await(run.RunID, "succeeded")
	testkit.Until(t, "the turn is over", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.turns) == 0 })
	if answer := b.deliver(run, run.Fence, gate(path)); answer.Header.Get("Nats-Service-Error-Code") != "403" {
		t.Errorf("after its end: %v", answer.Header)
	}
	if answer := b.deliver(run, run.Fence+1, gate(path)); answer.Header.Get("Nats-Service-Error-Code") != "403" {
		t.Errorf("with a fence that nobody gave: %v", answer.Header)
	}
	if n := len(lines(path + ".begun")); n != 1 {
		t.Errorf("it has begun %d times", n)
	}
}

// TestNextAttemptJoins: if the server begins another attempt while the command runs here, the command goes on under the new
// fence, and the run succeeds with it.
func TestNextAttemptJoins(t *testing.T) {
	dir, allow := place(t, "")
	path := filepath.Join(dir, "gate")
	makeGate(t, path)
	write(t, allow, commandsAllowed(gate(path)))
	b := startWorker(t, allow, func(o *Options) { o.Heartbeat = time.Hour })
	b.put("job", gate(path), func(j *client.Job) {
		j.Retry = client.Retry{MaxAttempts: 2, InitialInterval: client.Duration(time.Millisecond)}
	})
	run := b.trigger("job")
	begun(t, path)
	first := b.await(run.RunID, "running")
	// As when the deadline had passed: the attempt has failed for the server.
	if _, err := b.c.Report(t.Context(), client.ReportRequest{RunID: run.RunID, Fence: first.Fence, Status: client.OutcomeFailed, Error: "test"}); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the second attempt is confirmed", func() bool {
		run, _ = b.c.Run(t.Context(), run.RunID)
		return run.Attempt == 2 && run.Status == "running" && run.Fence > first.Fence
	})
	testkit.Until(t, "the turn has the new fence", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.turns[run.RunID].fenceNow() == run.Fence
	})
	open(t, path)
	if run = b.await(run.RunID, "succeeded"); len(lines(path+".begun")) != 1 {
		t.Errorf("it has begun %d times", len(lines(path+".begun")))
	}
}

// TestAfterACancellation: a run that follows a cancelled one at once waits for the end of its command: so cancel_other works,
// and two never run at a time.
func TestAfterACancellation(t *testing.T) {
	dir, allow := place(t, "")
	pids := filepath.Join(dir, "pids")
	command := "if [ -e " + pids + " ]; then exit 0; fi; " + stubborn(pids)
	write(t, allow, commandsAllowed(command))
	b := startWorker(t, allow, func(o *Options) { o.Heartbeat = time.Hour }) // so that no heartbeat notices in time
	b.put("job", command, nil)
	first := b.trigger("job")
	testkit.Until(t, "it runs", func() bool { return exists(pids) })
	if _, err := b.c.CancelRun(t.Context(), first.RunID); err != nil {
		t.Fatal(err)
	}
	second := b.trigger("job")
	b.await(second.RunID, "succeeded")
	b.await(first.RunID, "cancelled")
	if !isGone(pids) {
		t.Error("the first command lives")
	}
}

// TestOverlapHere: two runs of a job never run at a time, whatever its overlap_policy.
func TestOverlapHere(t *testing.T) {
	b, path := gated(t, func(j *client.Job) { j.OverlapPolicy = "allow" })
	first := b.trigger("job")
	begun(t, path)
	if run := b.run("job", "dead"); !strings.Contains(run.Error, "the command of run "+first.RunID+" (process ") {
		t.Error(run.Error)
	}
	open(t, path)
	b.await(first.RunID, "succeeded")
	if found, _ := filepath.Glob(filepath.Join(b.dir, "state", "*")); len(found) != 0 {
		t.Errorf("left in the state directory: %q", found)
	}
}

// TestFull: runs wait for a slot under heartbeats; beyond the line they are refused by name.
func TestFull(t *testing.T) {
	dir, allow := place(t, "")
	path := filepath.Join(dir, "gate")
	makeGate(t, path)
	write(t, allow, commandsAllowed(gate(path), "true"))
	b := startWorker(t, allow, func(o *Options) { o.Parallel, o.Waiting = 1, 1 })
	b.put("one", gate(path), nil)
	b.put("two", "true", nil)
	b.put("three", "true", nil)
	one := b.trigger("one")
	begun(t, path)
	two := b.trigger("two")
	testkit.Until(t, "two are here", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.turns) == 2 })
	if run := b.run("three", "dead"); !strings.Contains(run.Error, "is full: 1 commands run and 1 runs wait") {
		t.Error(run.Error)
	}
	open(t, path)
	b.await(one.RunID, "succeeded")
	b.await(two.RunID, "succeeded")
}
