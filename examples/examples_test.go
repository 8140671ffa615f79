// Package examples runs the examples, each with its own interpreter, against a server of this repository.
//
// It is a module of its own, so that the tests of the server need neither node nor Python.
package examples

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

var binary = flag.String("binary", "", "the carillon to test with; default: it is built")

// exampleTime bounds an example, far above the second or two that it takes.
const exampleTime = 2 * time.Minute

// addresses are those of a server.
type addresses struct{ NATS, HTTP string }

// startServer starts a server on free ports, and stops it after the test.
func startServer(t *testing.T) (string, addresses) {
	t.Helper()
	program := *binary
	if program == "" {
		program = filepath.Join(t.TempDir(), "carillon")
		if out, err := exec.Command("go", "build", "-C", "..", "-o", program, "./cmd/carillon").CombinedOutput(); err != nil {
			t.Fatalf("build: %v: %s", err, out)
		}
	}
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0",
		"--allow-private-targets", "--log-level", "warn")
	cmd.Env = environment()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	go func() { _, _ = io.Copy(io.Discard, out) }()
	var ready addresses
	if err != nil || json.Unmarshal(line, &ready) != nil || ready.HTTP == "" {
		t.Fatalf("the server is not ready: %v, %q", err, line)
	}
	return program, ready
}

// environment returns that of this process without the variables of Carillon, and more besides.
func environment(more ...string) (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "CARILLON_") {
			env = append(env, v)
		}
	}
	return append(env, more...)
}

// runOutput is the line of an example about a run: its id, and what it carries.
var runOutput = regexp.MustCompile(`(?m)^run ([0-9a-z]+-[0-9]+)\b.*$`)

// example is a program of this directory.
type example struct {
	name    string // of its job too, below examples/
	runs    int    // that it prints before it ends
	build   string // of a program in Go: its package
	command []string
	scheme  string // of the server that it asks; "" means that it has a scheduler of its own
}

var programs = []example{
	{"go-nats", 3, "./go-nats", []string{"go", "run", "./go-nats"}, "nats"},
	{"go-http", 3, "./go-http", []string{"go", "run", "./go-http"}, "http"},
	{"go-exactly-once", 3, "./go-exactly-once", []string{"go", "run", "./go-exactly-once"}, "nats"},
	{"go-embedded", 1, "./go-embedded", []string{"go", "run", "./go-embedded"}, ""},
	{"javascript-nats", 3, "", []string{"node", "javascript/nats.js"}, "nats"},
	{"javascript-http", 3, "", []string{"node", "javascript/http.js"}, "http"},
	{"python-nats", 3, "", []string{"python3", "python/nats_text.py"}, "nats"},
	{"python-http", 3, "", []string{"python3", "python/http_api.py"}, "http"},
}

// start returns the command that runs an example against a server, with a directory for its data.
func (e *example) start(ctx context.Context, server addresses, data string) *exec.Cmd {
	address := map[string]string{"nats": server.NATS, "http": server.HTTP}[e.scheme]
	cmd := exec.CommandContext(ctx, e.command[0], e.command[1:]...)
	cmd.Env = environment("CARILLON_SERVER="+address, "CARILLON_DATA="+data, "PYTHONUNBUFFERED=1")
	return cmd
}

// check returns the ids of the runs that an example has printed, which are all of its runs, and none twice.
func (e *example) check(t *testing.T, out string) map[string]bool {
	t.Helper()
	seen := make(map[string]bool)
	for _, m := range runOutput.FindAllStringSubmatch(out, -1) {
		seen[m[1]] = true
	}
	if lines := len(runOutput.FindAllString(out, -1)); len(seen) != e.runs || lines != e.runs {
		t.Errorf("%d runs in %d lines; want %d:\n%s", len(seen), lines, e.runs, out)
	}
	return seen
}

// TestExamples runs all programs at a time. Each ends well, has seen its runs, no run twice, and leaves no job behind. The
// web hooks fail at the first attempt of each run, which comes again and is printed then.
func TestExamples(t *testing.T) {
	program, server := startServer(t)
	t.Run("programs", func(t *testing.T) {
		for _, e := range programs {
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(context.Background(), exampleTime)
				defer cancel()
				out, err := e.start(ctx, server, t.TempDir()).CombinedOutput()
				if err != nil {
					t.Fatalf("%v (install.sh installs what is missing): %s", err, out)
				}
				e.check(t, string(out))
			})
		}
	})
	if left := carillon(t, program, server, "job", "list", "-o", "json"); strings.Contains(left, `"examples/`) {
		t.Errorf("an example leaves a job behind: %s", left)
	}
	applied(t, program, server)
}

// applied runs what the Job of the Kubernetes example runs, twice: the second time nothing changes.
func applied(t *testing.T, program string, server addresses) {
	text, err := os.ReadFile("kubernetes/apply.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct{ Args []string }
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &manifest); err != nil || len(manifest.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("apply.yaml: %v", err)
	}
	args := manifest.Spec.Template.Spec.Containers[0].Args
	for i, arg := range args {
		args[i] = strings.Replace(arg, "/jobs/", "kubernetes/", 1)
	}
	for _, want := range []string{"2 created, 0 updated, 0 unchanged, 0 deleted", "0 created, 0 updated, 2 unchanged, 0 deleted"} {
		if out := carillon(t, program, server, args...); !strings.Contains(out, want) {
			t.Errorf("%v: %s; want %s", args, out, want)
		}
	}
}

// carillon runs a command over HTTP and returns what it prints.
func carillon(t *testing.T, program string, server addresses, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = environment("CARILLON_SERVER="+server.HTTP, "XDG_CONFIG_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("carillon %v: %v: %s", args, err, out)
	}
	return string(out)
}
