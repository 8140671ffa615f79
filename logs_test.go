package carillon_test

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carillon-io/carillon"
	"github.com/carillon-io/carillon/client"
)

// logKeys are those that only package job spells out, and words that would say the same.
var logKeys = []string{
	"tenant", "job", "job_id", "run", "attempt", "fence", "epoch",
	"tenant_name", "job_name", "name", "run_id", "runid", "jobid", "attempt_number", "term_epoch",
}

// TestLogKeys: lines about a job or a run have the keys of job.LogRun and its like: no other file spells one out.
func TestLogKeys(t *testing.T) {
	lines := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "bench") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			keys, ok := keysOf(n)
			if ok {
				lines++
			}
			for _, key := range keys {
				if slices.Contains(logKeys, key) {
					t.Errorf("%s: the key %q is spelled out; want one of package job, such as job.LogRun", set.Position(n.Pos()), key)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lines < 50 {
		t.Errorf("%d calls of slog were found; the walk is broken", lines)
	}
}

// keysOf returns the keys that a call of slog spells out: of an attribute, or between the arguments of a line.
func keysOf(n ast.Node) (keys []string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil, false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil, false
	}
	args := call.Args[1:]
	if of, ok := fun.X.(*ast.Ident); ok && of.Name == "slog" {
		args = call.Args[:1]
	} else if !slices.Contains([]string{"Debug", "Info", "Warn", "Error", "LogAttrs", "With"}, fun.Sel.Name) {
		return nil, false
	} else if fun.Sel.Name == "With" {
		args = call.Args
	}
	for _, arg := range args {
		if text, ok := arg.(*ast.BasicLit); ok && text.Kind == token.STRING {
			key, _ := strconv.Unquote(text.Value)
			keys = append(keys, key)
		}
	}
	return keys, true
}

// said is a log that a test reads.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestLogsKeepSecrets runs jobs whose targets fail in every way, and whose payloads, headers and URLs have a secret.
// The log of the server, with all that it can say, has none of it.
func TestLogsKeepSecrets(t *testing.T) {
	const secret = "hunter2"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no use for "+r.URL.String()+" "+r.Header.Get("X-Token"), http.StatusInternalServerError)
	}))
	defer echo.Close()
	log := new(said)
	opts := options(filepath.Join(t.TempDir(), "data"))
	opts.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := carillon.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	_, c := connect(t, s)

	failing := map[string]client.Target{
		"answers":   {Kind: "http", URL: echo.URL + "/hooks/" + secret + "?token=" + secret},
		"away":      {Kind: "http", URL: "http://127.0.0.1:1/" + secret},
		"unknown":   {Kind: "http", URL: "http://nowhere.invalid/" + secret},
		"nobody":    {Kind: "request", Subject: "nobody.there"},
		"no-stream": {Kind: "jetstream", Subject: "no.stream"},
	}
	for name, target := range failing {
		def := client.Job{
			Name: name, Schedule: "@every 1h", Target: target, Payload: []byte(`{"password":"` + secret + `"}`),
			Headers: map[string]string{"X-Token": secret}, Retry: client.Retry{MaxAttempts: 1},
		}
		if _, _, err := c.Put(t.Context(), def); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Trigger(t.Context(), client.TriggerRequest{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	user := client.Job{Name: "user", Schedule: "@every 1h", Target: client.Target{Kind: "http", URL: "http://me:" + secret + "@example.com/"}}
	if _, _, err := c.Put(t.Context(), user); err == nil {
		t.Error("a password in a URL was taken")
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		st, err := c.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if st.Dead == uint64(len(failing)) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d runs are dead", st.Dead, len(failing))
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if text := log.String(); strings.Contains(text, secret) || !strings.Contains(text, "level=DEBUG") {
		t.Errorf("the log has the secret, or nothing at all:\n%s", text)
	}
}
