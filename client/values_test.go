package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
)

func TestDurations(t *testing.T) {
	for text, want := range map[string]struct {
		d     time.Duration
		shown string
	}{
		"0s": {0, "0s"}, "250ms": {250 * time.Millisecond, "250ms"}, "90s": {90 * time.Second, "1m30s"}, "1h30m": {90 * time.Minute, "1h30m"},
		"60m": {time.Hour, "1h"}, "24h": {24 * time.Hour, "1d"}, "7d": {7 * 24 * time.Hour, "7d"}, "1d12h": {36 * time.Hour, "1d12h"},
		"1.5h": {90 * time.Minute, "1h30m"}, "0d": {0, "0s"}, "106751d": {106751 * 24 * time.Hour, "106751d"}, "1h0m10s": {time.Hour + 10*time.Second, "1h0m10s"},
	} {
		d, err := client.ParseDuration(text)
		if err != nil || time.Duration(d) != want.d || d.String() != want.shown {
			t.Errorf("%s: %s, %v; want %s", text, d, err, want.shown)
		}
	}
	for _, text := range []string{"", "d", "5", "-5s", "+5s", "1d-5s", "1.5d", "7d7d", "106752d", "106751d24h", "s", ".5s", "5 s", "1d 2h", "99999999999999999999d"} {
		if d, err := client.ParseDuration(text); err == nil {
			t.Errorf("%q is %s, want an error", text, d)
		}
	}
}

// FuzzDuration checks that any text is refused or reads back from what it is shown as.
func FuzzDuration(f *testing.F) {
	for _, text := range []string{"90s", "7d", "1d12h", "-1h", "1e9s", "9223372036854775807ns", "106751d23h47m16.854775807s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := client.ParseDuration(text)
		if err != nil {
			return
		}
		if again, err := client.ParseDuration(d.String()); d < 0 || err != nil || again != d {
			t.Errorf("%q is %d, shown as %s, which is %d (%v)", text, d, d, again, err)
		}
	})
}

func TestTimes(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	at := client.At(time.Date(2026, 12, 1, 9, 0, 0, 1, berlin))
	text, err := json.Marshal(map[string]client.Time{"at": at, "none": {}})
	if err != nil || string(text) != `{"at":"2026-12-01T08:00:00.001Z","none":null}` {
		t.Fatalf("%s, %v", text, err)
	}
	var back map[string]client.Time
	if err := json.Unmarshal(text, &back); err != nil || !back["at"].Equal(at.Time) || !back["none"].IsZero() {
		t.Errorf("%v, %v", back, err)
	}
	for _, bad := range []string{`5`, `"tomorrow"`, `""`} {
		if err := json.Unmarshal([]byte(bad), new(client.Time)); err == nil {
			t.Errorf("%s is a time", bad)
		}
	}
}

// TestPlainJSON writes a job with the standard library's encoder: files of jobs need no other.
func TestPlainJSON(t *testing.T) {
	j := client.Job{Name: "a", AttemptTimeout: client.Duration(time.Hour), CatchupWindow: new(client.Duration(48 * time.Hour)), Payload: []byte(`{"a":1}`)}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var back client.Job
	if err := json.Unmarshal(text, &back); err != nil || back.AttemptTimeout != j.AttemptTimeout || *back.CatchupWindow != *j.CatchupWindow || string(back.Payload) != `{"a":1}` {
		t.Errorf("%s became %+v, %v", text, back, err)
	}
}

func TestErrorChain(t *testing.T) {
	cause := errors.New("cut")
	err := fmt.Errorf("put: %w", &client.Error{Code: client.CodeUnavailable, Message: "no answer", Cause: cause})
	if !errors.Is(err, client.CodeUnavailable) || !errors.Is(err, cause) || errors.Is(err, client.CodeNotFound) || !client.IsUnavailable(err) {
		t.Errorf("%v", err)
	}
	if got := err.Error(); got != "put: unavailable: no answer: cut" {
		t.Error(got)
	}
}
