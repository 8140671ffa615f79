package worker

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// serverURL is a Carillon without rights, for all tests of the package.
var serverURL string

func TestMain(m *testing.M) {
	if os.Getenv(processSink) != "" {
		if err := RunSink(os.Stdin); err != nil {
			panic(err)
		}
		return
	}
	if url := os.Getenv(processServer); url != "" { // the test that is a worker of its own
		serverURL = url
		os.Exit(m.Run())
	}
	os.Exit(runWithServer(m))
}

func runWithServer(m *testing.M) int {
	dir, err := os.MkdirTemp("", "carillon-worker-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := server.Start(context.Background(), server.Options{
		Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			panic(err)
		}
	}()
	serverURL = s.Ready().NATS
	return m.Run()
}

// bench is a worker on the server of the tests, and a client.
type bench struct {
	*Worker
	t    *testing.T
	dir  string // which commands may write to
	conn *nats.Conn
	c    *client.Client
	log  *testkit.Buffer
	name string
}

// commandsAllowed returns an allow file with exact commands.
func commandsAllowed(commands ...string) string {
	var b strings.Builder
	b.WriteString("commands:\n")
	for _, command := range commands {
		fmt.Fprintf(&b, "  - {command: %q, user: %q, directory: /}\n", command, ownUser())
	}
	return b.String()
}

// place makes a directory that a worker trusts, with an allow file.
func place(t *testing.T, rules string) (dir, allow string) {
	t.Helper()
	dir = t.TempDir()
	allow = filepath.Join(dir, "allow.yaml")
	write(t, allow, rules)
	return dir, allow
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// startWorker starts a worker of the test's own name with an allow file. It ends with the test.
func startWorker(t *testing.T, allow string, set func(*Options)) *bench {
	t.Helper()
	nc, c := clienttest.Connect(t, serverURL)
	b := &bench{t: t, dir: filepath.Dir(allow), conn: nc, c: c, log: new(testkit.Buffer), name: nameOf(t)}
	o := Options{
		Conn: nc, Client: c, Name: b.name, Allow: allow, State: filepath.Join(b.dir, "state"),
		Heartbeat: 100 * time.Millisecond, Grace: 100 * time.Millisecond, Logger: loggerTo(b.log),
	}
	if set != nil {
		set(&o)
	}
	var err error
	if b.Worker, err = Start(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.EndNow()
		b.all.Wait()
	})
	return b
}

func loggerTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

var (
	namesMu sync.Mutex
	names   = map[*testing.T]string{}
)

// nameOf returns the name of the worker of a test: another one each time that the test is repeated, as its jobs stay.
func nameOf(t *testing.T) string {
	namesMu.Lock()
	defer namesMu.Unlock()
	if names[t] == "" {
		names[t] = fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), len(names))
	}
	return names[t]
}

// put registers a job for the worker, which is triggered by the test alone.
func (b *bench) put(name, command string, set func(*client.Job)) {
	b.t.Helper()
	payload := fmt.Sprintf(`{"command": %q, "stdin": "", "user": "", "env": {}}`, command)
	j := client.Job{
		Name: b.name + "/" + name, Schedule: "@yearly", Target: client.Target{Kind: "request", Subject: "cron." + b.name + ".x"},
		Payload: []byte(payload), Completion: "reported", AttemptTimeout: client.Duration(time.Minute), Retry: client.Retry{MaxAttempts: 1},
	}
	if set != nil {
		set(&j)
	}
	if _, _, err := b.c.Put(b.t.Context(), j); err != nil {
		b.t.Fatal(err)
	}
}

// trigger fires a run of a job.
func (b *bench) trigger(name string) client.Run {
	b.t.Helper()
	run, err := b.c.Trigger(b.t.Context(), client.TriggerRequest{Name: b.name + "/" + name})
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

// await waits until a run has a status, and returns it.
func (b *bench) await(id, status string) (run client.Run) {
	b.t.Helper()
	testkit.Until(b.t, "run "+id+" is "+status, func() bool {
		var err error
		run, err = b.c.Run(b.t.Context(), id)
		return err == nil && (run.Status == status || !run.FinishedAt.IsZero())
	})
	if run.Status != status {
		b.t.Fatalf("run %s of %s is %s, and not %s: %s%s\n%s", id, run.Job, run.Status, status, run.Result, run.Error, b.logged())
	}
	return run
}

// run triggers a job and waits until its run has a status.
func (b *bench) run(name, status string) client.Run {
	b.t.Helper()
	return b.await(b.trigger(name).RunID, status)
}

// lines returns the lines of a file that commands append to.
func lines(path string) []string {
	text, _ := os.ReadFile(path)
	return strings.Fields(string(text))
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// logged returns the log of the worker; "" if it runs in another process.
func (b *bench) logged() string {
	if b.log == nil {
		return ""
	}
	return b.log.String()
}
