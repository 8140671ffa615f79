package main

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/client"
)

// planted would clear the screen, ring the bell, and turn the direction of writing.
const planted = "planted\x1b[2J\x07\u009b1m\u202e"

// TestNoControlCharacters stores texts of another user with control characters wherever the server takes them, and runs the
// commands that show them: no line has one.
func TestNoControlCharacters(t *testing.T) {
	url := startNATS(t, natsserver.Options{})
	startServer(t, url)
	useContexts(t, nil)
	t.Setenv("CARILLON_SERVER", url)
	c, err := client.Connect(url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	job := client.Job{
		Name: "a", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}, Completion: "reported", Description: planted,
		PayloadBase64: []byte(planted), Retry: client.Retry{MaxAttempts: 1}, Labels: map[string]string{"team": "a"},
	}
	if _, _, err := c.Put(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); run.Fence == 0 || run.Status == "pending"; { // until it is launched
		if run, err = c.Run(t.Context(), run.RunID); err != nil || time.Now().After(deadline) {
			t.Fatalf("the run is %s: %v", run.Status, err)
		}
	}
	if _, err := c.Report(t.Context(), client.ReportRequest{RunID: run.RunID, Fence: run.Fence, Status: "failed", Error: planted}); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, args := range [][]string{
		{"job", "pause", "a", "--reason", planted}, {"job", "list"}, {"job", "show", "a"}, {"job", "set", "a", "--description", planted + "2"},
		{"audit"}, {"run", "list", "a"}, {"run", "list", "a", "--attempts"}, {"run", "get", run.RunID}, {"run", "retry", run.RunID},
		{"job", "show", planted}, {"job", "next", planted}, {"run", "get", planted}, {"calendar", "show", planted}, {"status", "--context", planted},
		{"auth", "check", planted}, {"apply", planted}, {"import", "--crontab", planted}, {planted}, {"job", planted}, {"job", "resume", "a"},
	} {
		_, out, errs := command(args...)
		text := out + errs
		shown += strings.Count(text, "planted")
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
				t.Errorf("%q shows %q", args, text)
				break
			}
		}
	}
	if shown < 10 {
		t.Errorf("the texts are shown %d times only", shown)
	}
}

// TestPrintable: texts, texts of other types and errors are made printable; what a command means as it is, numbers and
// documents are not changed.
func TestPrintable(t *testing.T) {
	type word string
	var out strings.Builder
	con := &console{out: &out}
	con.printf("%s %s %v %s %d %s %v\n", "\x1b", word("\x1b"), errors.New("\x1b"), markup("\x1b\n"), 7, []byte("\x1b"), nil)
	if want := "· · · \x1b\n 7 \x1b <nil>\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
