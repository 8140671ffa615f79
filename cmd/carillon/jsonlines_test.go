package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/terminal"
)

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", lineBytesMax+1)
	lines := newLineReader(strings.NewReader("one\r\n\n" + long + "\n  two"))
	var got []string
	for {
		line, err := lines.next()
		if err == io.EOF {
			break
		}
		if errors.Is(err, errLineTooLong) {
			line = []byte("too long")
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(line))
	}
	if want := "one||too long|two"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDecodeJob(t *testing.T) {
	for text, want := range map[string]string{
		`{"name":"a","schedule":"@daily","target":{"kind":"nats","subject":"x"}}`:    "",
		`{"name":"a","id":"x","version":3,"last_run":{"id":"r"},"next_run_at":null}`: "", // fields that a server adds
		`{"name":"a","colour":1}`:                "colour: no field of a job",
		`{"name":"a","retry":{"max_atempts":1}}`: "retry.max_atempts: no field of a job",
		`{"name":"a","max_runs":-1}`:             "max_runs",
		`{"name":"a","jitter":5}`:                "jitter",
		`{"name":"a","starts_at":"soon"}`:        "starts_at",
		`{"name":"a","name":"b"}`:                "duplicate",
		`{"name":"a","payload_omitted":true}`:    "payload_omitted",
		`{"name":"a"`:                            "is not JSON",
		`{"name":"a"} x`:                         "is not JSON",
		`[1]`:                                    "is no job",
		`7`:                                      "is no job",
	} {
		_, err := decodeJob([]byte(text))
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		}
	}
}

// FuzzDecodeJob checks that no text panics, and that an error is one line that can be shown.
func FuzzDecodeJob(f *testing.F) {
	f.Add([]byte(`{"name":"a","schedule":"@daily","target":{"kind":"nats","subject":"x"},"payload":[1,{}],"payload_base64":"AA=="}`))
	f.Add([]byte(`{"name":"\u0000","catchup_window":"1h","headers":{"a":"b"},"starts_at":"2026-12-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := decodeJob(text)
		if err != nil {
			if explain(err) != terminal.Printable(explain(err)) {
				t.Errorf("%q: the error has control characters: %q", text, err)
			}
			return
		}
		checkResult(&j, 0)
	})
}
