package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// namesIn returns the names in a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestTwoWritersOfOneName: of two that write one file at a time, each writes its own; the name has all of the last one to
// end, and one that fails changes nothing. What was there under a similar name stays.
func TestTwoWritersOfOneName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	foreign := path + ".part"
	if err := os.WriteFile(foreign, []byte("foreign"), 0o600); err != nil {
		t.Fatal(err)
	}
	of := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	failure := errors.New("it failed")
	within := func(write func(io.Writer) error, want error) func(io.Writer) error {
		return func(w io.Writer) error {
			if err := of("fir")(w); err != nil {
				return err
			}
			if err := writeWhole(path, write); !errors.Is(err, want) {
				t.Errorf("the second one: %v; want %v", err, want)
			}
			return of("st")(w)
		}
	}
	for name, first := range map[string]func(io.Writer) error{
		"both end":         within(of("sec"), nil),
		"the second fails": within(func(io.Writer) error { return failure }, failure),
	} {
		if err := writeWhole(path, first); err != nil {
			t.Errorf("%s: the first one: %v", name, err)
		}
		if text, err := os.ReadFile(path); string(text) != "first" {
			t.Errorf("%s: the file has %q, %v; want what the last one to end has written", name, text, err)
		}
	}
	if text, err := os.ReadFile(foreign); string(text) != "foreign" {
		t.Errorf("%s has %q, %v; want it unchanged", foreign, text, err)
	}
	if names := namesIn(t, filepath.Dir(path)); len(names) != 2 {
		t.Errorf("the directory has %q; want the file and the foreign one", names)
	}
}

// TestHangupLeavesNothing: a command that writes a file removes what it has not completed when its terminal closes, and
// goes on under nohup.
func TestHangupLeavesNothing(t *testing.T) {
	for name, ignored := range map[string]bool{"terminal": false, "nohup": true} {
		t.Run(name, func(t *testing.T) {
			if !ignored && signal.Ignored(syscall.SIGHUP) {
				t.Skip("the tests run under nohup, and so would the command")
			}
			dir, asked, answer := t.TempDir(), make(chan struct{}, 1), make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/healthz" { // by which the command connects
					return
				}
				select {
				case asked <- struct{}{}:
				default: // on a busy machine the command asks again
				}
				select {
				case <-answer:
				case <-r.Context().Done():
				}
				w.Header().Set("Carillon-Reply", "jobs.list")
				_, _ = io.WriteString(w, `{"jobs":[]}`)
			}))
			defer server.Close()
			script := `exec "$@"`
			if ignored {
				script = `trap "" HUP; exec "$@"`
			}
			var log testkit.Buffer
			cmd := exec.Command("sh", "-c", script, "sh", "carillon", "export", "--file", filepath.Join(dir, "out"), "--server", server.URL)
			cmd.Stderr = &log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			testkit.Receive(t, asked)
			if names := namesIn(t, dir); len(names) != 1 || !strings.HasSuffix(names[0], ".part") {
				t.Fatalf("the directory has %q while the file is written", names)
			}
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			want := []string(nil)
			if ignored {
				want = []string{"out"}
				close(answer)
			}
			err := cmd.Wait()
			isSaid := strings.Contains(log.String(), "carillon: interrupted: export, after 0 jobs: unavailable: cancelled before an answer came")
			if names := namesIn(t, dir); !slices.Equal(names, want) || (err == nil) != ignored || isSaid == ignored {
				t.Errorf("the directory has %q after %v, want %q:\n%s", names, err, want, log.String())
			}
		})
	}
}
