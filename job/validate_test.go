package job

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/schedule"
)

func validDefinition() Definition {
	d := Defaults()
	d.Tenant, d.Name, d.Schedule = "default", "a", "@every 1s"
	d.Target = Target{Kind: TargetNATS, Subject: "out.a"}
	return d
}

func TestValidateAcceptsDefaults(t *testing.T) {
	d := validDefinition()
	if err := d.Validate(Rules{Prefix: "carillon"}); err != nil {
		t.Fatal(err)
	}
}

// TestValidateRefuses breaks one field at a time; the error must name it.
func TestValidateRefuses(t *testing.T) {
	subject := func(s string) func(*Definition) { return func(d *Definition) { d.Target.Subject = s } }
	url := func(s string) func(*Definition) {
		return func(d *Definition) { d.Target = Target{Kind: TargetHTTP, URL: s, Method: "POST"} }
	}
	header := func(k, v string) func(*Definition) {
		return func(d *Definition) { d.Headers = []Pair{{k, v}} }
	}
	cases := []struct {
		name, field string
		code        apierr.Code
		spoil       func(*Definition)
	}{
		{"no name", "name", apierr.InvalidName, func(d *Definition) { d.Name = "" }},
		{"long name", "name", apierr.InvalidName, func(d *Definition) { d.Name = strings.Repeat("x", 129) }},
		{"name with a space", "name", apierr.InvalidName, func(d *Definition) { d.Name = "a b" }},
		{"name with an umlaut", "name", apierr.InvalidName, func(d *Definition) { d.Name = "ä" }},
		{"tenant with a dot", "tenant", apierr.InvalidField, func(d *Definition) { d.Tenant = "a.b" }},
		{"no target", "target.kind", apierr.InvalidTarget, func(d *Definition) { d.Target = Target{} }},
		{"handler", "target.kind", apierr.InvalidTarget, func(d *Definition) { d.Target.Kind = TargetHandler }},
		{"no subject", "target.subject", apierr.InvalidTarget, subject("")},
		{"star", "target.subject", apierr.InvalidTarget, subject("a.*")},
		{"full wildcard", "target.subject", apierr.InvalidTarget, subject("a.>")},
		{"empty token", "target.subject", apierr.InvalidTarget, subject("a..b")},
		{"space", "target.subject", apierr.InvalidTarget, subject("a b")},
		{"line break", "target.subject", apierr.InvalidTarget, subject("a\r\nPUB x")},
		{"system", "target.subject", apierr.InvalidTarget, subject("$SYS.REQ.SERVER.PING")},
		{"jetstream api", "target.subject", apierr.InvalidTarget, subject("$JS.API.STREAM.DELETE.x")},
		{"a word of NATS", "target.subject", apierr.InvalidTarget, subject("_x")},
		{"a word of NATS in a stream", "target.subject", apierr.InvalidTarget, func(d *Definition) { d.Target = Target{Kind: TargetJetStream, Subject: "_x.y"} }},
		{"a command in a stream", "target.subject", apierr.InvalidTarget, func(d *Definition) { d.Target = Target{Kind: TargetJetStream, Subject: "$KV.a.b"} }},
		{"an inbox in a stream", "target.subject", apierr.InvalidTarget, func(d *Definition) { d.Target = Target{Kind: TargetJetStream, Subject: "_INBOX.>"} }},
		{"inbox", "target.subject", apierr.InvalidTarget, subject("_INBOX.x")},
		{"ourselves", "target.subject", apierr.InvalidTarget, subject("carillon.v1.default.jobs.delete")},
		{"long subject", "target.subject", apierr.InvalidTarget, subject(strings.Repeat("a", 256))},
		{"file url", "target.url", apierr.InvalidTarget, url("file:///etc/passwd")},
		{"no host", "target.url", apierr.InvalidTarget, url("http:///x")},
		{"user in url", "target.url", apierr.InvalidTarget, url("https://u:p@example.com")},
		{"loopback", "target.url", apierr.InvalidTarget, url("http://127.0.0.1/x")},
		{"localhost", "target.url", apierr.InvalidTarget, url("http://LocalHost:80/x")},
		{"metadata", "target.url", apierr.InvalidTarget, url("http://169.254.169.254/latest")},
		{"mapped", "target.url", apierr.InvalidTarget, url("http://[::ffff:10.0.0.1]/")},
		{"fragment", "target.url", apierr.InvalidTarget, url("https://example.com/#a")},
		{"method", "target.method", apierr.InvalidTarget, func(d *Definition) {
			d.Target = Target{Kind: TargetHTTP, URL: "https://example.com", Method: "TRACE"}
		}},
		{"too many places", "target.max_in_flight", apierr.InvalidTarget, func(d *Definition) {
			d.Target = Target{Kind: TargetRequest, Subject: "a", MaxInFlight: MaxInFlightMax + 1}
		}},
		{"places of nats", "target.max_in_flight", apierr.InvalidTarget, func(d *Definition) { d.Target.MaxInFlight = 5 }},
		{"payload", "payload", apierr.TooLarge, func(d *Definition) { d.Payload = make([]byte, PayloadBytesDefault+1) }},
		{"header injection", "headers.X-A", apierr.InvalidField, header("X-A", "1\r\nX-B: 2")},
		{"header name", "headers.X A", apierr.InvalidField, header("X A", "1")},
		{"own header", "headers.Carillon-Run-Id", apierr.InvalidField, header("Carillon-Run-Id", "1")},
		{"nats header", "headers.nats-msg-id", apierr.InvalidField, header("nats-msg-id", "1")},
		{"host header", "headers.Host", apierr.InvalidField, header("Host", "x")},
		{"header twice", "headers.authorization", apierr.InvalidField, func(d *Definition) { d.Headers = []Pair{{"Authorization", "a"}, {"authorization", "b"}} }},
		{"large headers", "headers", apierr.TooLarge, header("X-A", strings.Repeat("x", HeadersBytesMax))},
		{"many headers", "headers", apierr.TooLarge, func(d *Definition) { d.Headers = make([]Pair, HeadersMax+1) }},
		{"label key", "labels.a b", apierr.InvalidField, func(d *Definition) { d.Labels = []Pair{{"a b", "x"}} }},
		{"label value", "labels.a", apierr.InvalidField, func(d *Definition) { d.Labels = []Pair{{"a", "x\n"}} }},
		{"both", "schedules", apierr.InvalidSchedule, func(d *Definition) { d.Schedules = []string{"@daily"} }},
		{"line break", "schedule", apierr.InvalidSchedule, func(d *Definition) { d.Schedule = "@daily\n@hourly" }},
		{"empty schedule", "schedules.1", apierr.InvalidSchedule, func(d *Definition) { d.Schedule, d.Schedules = "", []string{"@daily", ""} }},
		{"two in one", "schedules.0", apierr.InvalidSchedule, func(d *Definition) { d.Schedule, d.Schedules = "", []string{"@daily\n@hourly"} }},
		{"many schedules", "schedules", apierr.TooLarge, func(d *Definition) { d.Schedule, d.Schedules = "", make([]string, schedule.ExpressionsMax+1) }},
		{"empty exclusion", "exclude.0", apierr.InvalidSchedule, func(d *Definition) { d.Exclude = []string{" "} }},
		{"two exclusions", "exclude.1", apierr.InvalidSchedule, func(d *Definition) { d.Exclude = []string{"2026-12-25", "2026-12-26\n2026-12-27"} }},
		{"many exclusions", "exclude", apierr.TooLarge, func(d *Definition) { d.Exclude = make([]string, schedule.ExcludesMax+1) }},
		{"jitter", "jitter", apierr.InvalidField, func(d *Definition) { d.Jitter = JitterMax + 1 }},
		{"timeout", "attempt_timeout", apierr.InvalidField, func(d *Definition) { d.AttemptTimeout = 0 }},
		{"window", "catchup_window", apierr.InvalidField, func(d *Definition) { d.CatchupWindow = -1 }},
		{"no completion", "completion", apierr.InvalidField, func(d *Definition) { d.Completion = 0 }},
		{"limit of one", "max_concurrent", apierr.InvalidField, func(d *Definition) { d.Overlap, d.MaxConcurrent = OverlapBufferAll, 2 }},
		{"limit", "max_concurrent", apierr.InvalidField, func(d *Definition) { d.Overlap, d.MaxConcurrent = OverlapAllow, MaxConcurrentMax+1 }},
		{"pause on failure", "pause_on_failure", apierr.InvalidField, func(d *Definition) { d.PauseOnFailure = PauseOnFailureMax + 1 }},
		{"retry jitter", "retry.jitter", apierr.InvalidField, func(d *Definition) { d.Retry.Jitter = 1.5 }},
		{"catch-up runs", "max_catchup_runs", apierr.InvalidField, func(d *Definition) { d.MaxCatchupRuns = 1001 }},
		{"backfill nothing", "catchup_window", apierr.InvalidField, func(d *Definition) { d.Missed, d.CatchupWindow = MissedBackfill, 0 }},
		{"no attempts", "retry.max_attempts", apierr.InvalidField, func(d *Definition) { d.Retry.MaxAttempts = 0 }},
		{"multiplier", "retry.multiplier", apierr.InvalidField, func(d *Definition) { d.Retry.Multiplier = math.NaN() }},
		{"intervals", "retry.max_interval", apierr.InvalidField, func(d *Definition) { d.Retry.MaxInterval = time.Millisecond }},
		{"description", "description", apierr.TooLarge, func(d *Definition) { d.Description = strings.Repeat("x", 1025) }},
		{"bad UTF-8", "description", apierr.InvalidField, func(d *Definition) { d.Description = "\xff" }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := validDefinition()
			c.spoil(&d)
			e, ok := errors.AsType[*apierr.Error](d.Validate(Rules{Prefix: "carillon"}))
			if !ok || e.Code != c.code || e.Field != c.field || e.Message == "" {
				t.Errorf("got %+v; want %s on %s", e, c.code, c.field)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	r := Retry{InitialInterval: time.Second, Multiplier: 2, MaxInterval: 5 * time.Second}
	for n, want := range map[uint32]time.Duration{1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 4: 5 * time.Second, 99: 5 * time.Second} {
		if got := r.Backoff(n, RunID{}); got != want {
			t.Errorf("after attempt %d: %s, want %s", n, got, want)
		}
	}
}

// TestNamesAreQuotedByLetters: a refused name shows its letter as its author wrote it, and counts letters.
func TestNamesAreQuotedByLetters(t *testing.T) {
	for name, want := range map[string]string{
		"büro": "name: has 'ü' at position 2; ", "отчёт": "name: has 'о' at position 1; ", "a b": "name: has ' ' at position 2; ",
		strings.Repeat("я", 100): "name: has 'я' at position 1; ", "": "name: must have 1 to 128 characters, has 0",
		strings.Repeat("a", 129): "name: must have 1 to 128 characters, has 129", "a\xff": "name: has '�' at position 2; ",
	} {
		if err := ValidateName(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", name, err, want)
		}
	}
}
