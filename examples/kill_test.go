package examples

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKilled kills each program with its first line, with its first run and with its last one, and each start after that
// goes on. The last start ends well, and leaves no job behind. The second kill is followed by a while without the program,
// in which its job goes on.
func TestKilled(t *testing.T) {
	program, server := startServer(t)
	t.Run("programs", func(t *testing.T) {
		for _, e := range programs {
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				e.killed(t, server)
			})
		}
	})
	if left := carillon(t, program, server, "job", "list", "-o", "json"); strings.Contains(left, `"examples/`) {
		t.Errorf("an example leaves a job behind: %s", left)
	}
}

// killed kills an example at several moments and lets it end.
func (e example) killed(t *testing.T, server addresses) {
	ctx, cancel := context.WithTimeout(context.Background(), exampleTime)
	defer cancel()
	if e.build != "" { // a kill of `go run` would leave the program
		e.command = []string{filepath.Join(t.TempDir(), e.name)}
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", e.command[0], e.build).CombinedOutput(); err != nil {
			t.Fatalf("build: %v: %s", err, out)
		}
	}
	data := t.TempDir()
	all := make(map[string]bool)
	for _, lines := range []struct{ all, runs int }{{all: 1}, {runs: 1}, {runs: e.runs}} {
		out := e.killedAfter(t, ctx, server, data, lines.all, lines.runs)
		e.once(t, all, out)
		if lines.runs == 1 && e.scheme != "" {
			awaitTicks(t, ctx, server, "examples%2F"+e.name)
		}
	}
	out, err := e.start(ctx, server, data).CombinedOutput()
	if err != nil {
		t.Fatalf("after the kills: %v: %s", err, out)
	}
	e.check(t, string(out))
	e.once(t, all, string(out))
}

// killedAfter starts an example, kills it when it has printed a number of lines or of runs, and returns what it printed.
func (e *example) killedAfter(t *testing.T, ctx context.Context, server addresses, data string, lines, runs int) string {
	t.Helper()
	cmd := e.start(ctx, server, data)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for in := bufio.NewScanner(stdout); in.Scan(); {
		out.WriteString(in.Text() + "\n")
		lines--
		if runOutput.MatchString(in.Text()) {
			runs--
		}
		if lines == 0 || runs == 0 {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if lines > 0 || runs > 0 {
		t.Fatalf("the program ended before it was killed: %s%s", &complaints, &out)
	}
	return out.String()
}

// once adds the runs in an output to those of earlier starts. A program that promises each run once has none of them again.
func (e *example) once(t *testing.T, all map[string]bool, out string) {
	t.Helper()
	for _, m := range runOutput.FindAllStringSubmatch(out, -1) {
		if all[m[1]] && e.name == "go-exactly-once" {
			t.Errorf("run %s has a second result", m[1])
		}
		all[m[1]] = true
	}
}

// awaitTicks waits until a job has ticked for two seconds from now, or does not tick any more.
func awaitTicks(t *testing.T, ctx context.Context, server addresses, job string) {
	t.Helper()
	until := time.Now().Add(2 * time.Second)
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		var reply struct {
			Job struct {
				Status  string
				NextRun time.Time `json:"next_run_at"`
			}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.HTTP+"/api/v1/jobs/"+job, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(answer.Body).Decode(&reply)
		_ = answer.Body.Close()
		if err != nil || reply.Job.Status == "" {
			t.Fatalf("the job %s: %v, status %d", job, err, answer.StatusCode)
		}
		if reply.Job.Status != "active" || reply.Job.NextRun.After(until) {
			return
		}
		<-poll.C
	}
}
