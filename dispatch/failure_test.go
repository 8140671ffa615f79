package dispatch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

var errDisk = errors.New("disk full")

func TestOutcomeOfFailures(t *testing.T) {
	tests := []struct {
		name    string
		err     error
		text    string
		refused bool
		after   time.Duration
	}{
		{"plain", errDisk, "disk full", false, 0},
		{"refused", Refuse(errDisk), "disk full", true, 0},
		{"later", RetryAfter(errDisk, time.Minute), "disk full", false, time.Minute},
		{"both", RetryAfter(Refuse(errDisk), time.Minute), "disk full", true, time.Minute},
		{"both, the other way round", Refuse(fmt.Errorf("write: %w", RetryAfter(errDisk, time.Minute))), "write: disk full", true, time.Minute},
		{"wrapped", fmt.Errorf("write: %w", Refuse(errDisk)), "write: disk full", true, 0},
		{"the outermost wish counts", RetryAfter(RetryAfter(errDisk, time.Hour), time.Second), "disk full", false, time.Second},
		{"negative", RetryAfter(errDisk, -time.Minute), "disk full", false, 0},
		{"too long", RetryAfter(errDisk, 1<<62), "disk full", false, job.RetryAfterMax},
		{"by hand", &Failure{Refused: true}, "failed without a reason", true, 0},
		{"none", nil, "", false, 0},
		{"none refused", Refuse(nil), "", false, 0},
		{"none later", RetryAfter(nil, time.Minute), "", false, 0},
	}
	for _, tc := range tests {
		o := outcomeOf(new(job.Delivery), tc.err)
		if o.Error != tc.text || o.Refused != tc.refused || o.RetryAfter != tc.after {
			t.Errorf("%s: outcome is %+v", tc.name, o)
		}
	}
	if err := RetryAfter(Refuse(errDisk), time.Minute); !errors.Is(err, errDisk) {
		t.Error("the cause is not in the failure")
	}
}

func TestHandlerFailures(t *testing.T) {
	d := start(t, Options{Handlers: map[string]Handler{
		"refuses": func(context.Context, *job.Delivery) error { return Refuse(errDisk) },
		"rests":   func(context.Context, *job.Delivery) error { return RetryAfter(errDisk, time.Hour) },
	}}, "")
	if o := testkit.Receive(t, launch(d, deliveryTo(handlerTarget("refuses"), 0))); !o.Refused || o.Error != "disk full" {
		t.Errorf("outcome is %+v", o)
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(handlerTarget("rests"), 1))); o.Refused || o.RetryAfter != time.Hour {
		t.Errorf("outcome is %+v", o)
	}
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		value string
		want  time.Duration
	}{
		{"120", 2 * time.Minute},
		{" 0 ", 0},
		{"Sun, 01 Mar 2026 12:00:30 GMT", 30 * time.Second},
		{"Sunday, 01-Mar-26 12:01:00 GMT", time.Minute},
		{"Sun Mar  1 12:01:00 2026", time.Minute},
		{"Sun, 01 Mar 2026 11:59:59 GMT", 0},
		{"99999999999999999999999", job.RetryAfterMax},
		{"9999999999", job.RetryAfterMax},
		{"-5", 0}, {"+5", 0}, {"1.5", 0}, {"5s", 0}, {"", 0}, {"soon", 0}, {"2026-03-01T12:01:00Z", 0},
	}
	for _, tc := range tests {
		if got := parseRetryAfter(tc.value, now); got != tc.want {
			t.Errorf("%q is %s; want %s", tc.value, got, tc.want)
		}
	}
}

func TestHTTPRefusals(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &status)
		if r.URL.RawQuery != "" {
			w.Header().Set("Retry-After", r.URL.RawQuery)
		}
		w.WriteHeader(status)
	})
	d := start(t, Options{AllowPrivateTargets: true}, "")
	tests := []struct {
		path    string
		refused bool
		after   time.Duration
	}{
		{"/200?60", false, 0},
		{"/302", true, 0}, {"/304", true, 0},
		{"/400", true, 0}, {"/404", true, 0}, {"/499", true, 0},
		{"/408", false, 0}, {"/425", false, 0}, {"/429?60", false, time.Minute},
		{"/500", false, 0}, {"/503?7200", false, 2 * time.Hour}, {"/503?-1", false, 0},
		{"/404?30", true, 30 * time.Second},
		{"/503?999999999", false, job.RetryAfterMax},
	}
	for _, tc := range tests {
		o := testkit.Receive(t, launch(d, deliveryTo(httpTarget(url+tc.path), 0)))
		if o.Refused != tc.refused || o.RetryAfter != tc.after {
			t.Errorf("%s: outcome is %+v", tc.path, o)
		}
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(httpTarget("http://[bad"), 0))); !o.Refused || o.Error == "" {
		t.Errorf("a malformed request has outcome %+v", o)
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(httpTarget("http://127.0.0.1:1/"), 0))); o.Refused || o.Error == "" {
		t.Errorf("a connection refused has outcome %+v", o)
	}
}

func TestServiceRefusals(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	d := start(t, Options{}, s.ClientURL())
	tests := []struct {
		code, after string
		refused     bool
		want        time.Duration
	}{
		{"400", "", true, 0}, {"404", "60", true, time.Minute}, {"499", "", true, 0},
		{"408", "", false, 0}, {"425", "", false, 0}, {"429", "60", false, time.Minute},
		{"500", "", false, 0}, {"503", "soon", false, 0}, {"399", "", false, 0},
		{"NOT_FOUND", "60", false, time.Minute}, {"0x194", "", false, 0}, {"", "60", false, time.Minute},
	}
	for n, tc := range tests {
		subject := fmt.Sprint("svc.", n)
		subscribe(t, nc, subject, func(m *nats.Msg) {
			h := nats.Header{micro.ErrorHeader: {"no"}}
			if tc.code != "" {
				h[micro.ErrorCodeHeader] = []string{tc.code}
			}
			if tc.after != "" {
				h["Retry-After"] = []string{tc.after}
			}
			_ = m.RespondMsg(&nats.Msg{Header: h})
		})
		o := testkit.Receive(t, launch(d, deliveryTo(requestTarget(subject), n)))
		if o.Error == "" || o.Refused != tc.refused || o.RetryAfter != tc.want {
			t.Errorf("code %q, Retry-After %q: outcome is %+v", tc.code, tc.after, o)
		}
	}
	for _, target := range []job.Target{requestTarget("nobody"), streamTarget("nobody")} {
		if o := testkit.Receive(t, launch(d, deliveryTo(target, 0))); o.Error == "" || o.Refused {
			t.Errorf("%s without responders has outcome %+v", target.Kind, o)
		}
	}
}
