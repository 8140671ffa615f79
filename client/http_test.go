package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// connect returns a client that ends with the test.
func connect(t *testing.T, url string, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.Connect(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// sample puts a job with a run into a tenant, and returns the run.
func sample(t *testing.T, c *client.Client, name string) client.Run {
	t.Helper()
	_, _, err := c.Put(t.Context(), client.Job{
		Name: name, Schedule: "@yearly", Labels: map[string]string{"team": "a&b=c", "x": ""},
		Target: client.Target{Kind: "nats", Subject: "out"}, Completion: "reported",
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: name, IdempotencyKey: "once"})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the run waits for its report", func() bool {
		run, err = c.Run(t.Context(), run.RunID)
		return err == nil && run.Status == "running" && !run.Deadline.IsZero()
	})
	return run
}

// reads are requests with every member that a read has.
func reads(job string, run client.Run) map[string]func(context.Context, *client.Client) (any, error) {
	at := client.At(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC))
	return map[string]func(context.Context, *client.Client) (any, error){
		"jobs.get":         func(ctx context.Context, c *client.Client) (any, error) { return c.Get(ctx, job) },
		"with credentials": func(ctx context.Context, c *client.Client) (any, error) { return c.GetWithCredentials(ctx, job) },
		"jobs.list":        func(ctx context.Context, c *client.Client) (any, error) { return c.List(ctx, client.ListRequest{}) },
		"jobs.list, all": func(ctx context.Context, c *client.Client) (any, error) {
			return c.List(ctx, client.ListRequest{Prefix: job[:1], Labels: map[string]string{"team": "a&b=c", "x": ""}, Status: "active", Limit: 1, WithCredentials: true})
		},
		"jobs.list, bad label": func(ctx context.Context, c *client.Client) (any, error) {
			return c.List(ctx, client.ListRequest{Labels: map[string]string{"team": "other"}})
		},
		"runs.get": func(ctx context.Context, c *client.Client) (any, error) { return c.Run(ctx, run.RunID) },
		"runs.list": func(ctx context.Context, c *client.Client) (any, error) {
			return c.ListRuns(ctx, client.RunListRequest{Job: job, From: at, To: client.At(run.ScheduledAt.Add(time.Hour)), Attempts: true, Limit: 3})
		},
		"calendars.list": func(ctx context.Context, c *client.Client) (any, error) {
			return c.ListCalendars(ctx, client.CalendarListRequest{Limit: 5})
		},
		"audit.list": func(ctx context.Context, c *client.Client) (any, error) {
			return c.ListAudit(ctx, client.AuditRequest{Name: job, Limit: 5})
		},
		"schedules.next": func(ctx context.Context, c *client.Client) (any, error) {
			return c.Next(ctx, client.NextRequest{
				Schedules: []string{"0 8 * * *", "@every 7h"}, Exclude: []string{"2026-03-30", "sat"}, Timezone: "Europe/Berlin", Count: 9, After: at, StartsAt: at, EndsAt: client.At(at.AddDate(1, 0, 0)),
			})
		},
		"no such job": func(ctx context.Context, c *client.Client) (any, error) { return c.Get(ctx, "nobody") },
		"a bad name":  func(ctx context.Context, c *client.Client) (any, error) { return c.Get(ctx, "a b?c#d%2Fe&\x00é") },
		"no name":     func(ctx context.Context, c *client.Client) (any, error) { return c.Get(ctx, "") },
		"a bad run":   func(ctx context.Context, c *client.Client) (any, error) { return c.Run(ctx, "x/y") },
		"a bad limit": func(ctx context.Context, c *client.Client) (any, error) {
			return c.List(ctx, client.ListRequest{Limit: 1001})
		},
		"a bad schedule": func(ctx context.Context, c *client.Client) (any, error) {
			return c.Next(ctx, client.NextRequest{Schedule: "& + %"})
		},
		"no such calendar": func(ctx context.Context, c *client.Client) (any, error) { return c.Calendar(ctx, "none") },
	}
}

// TestHTTPReadsAsNATS: each read has the same answer over HTTP and over NATS, or the same refusal.
func TestHTTPReadsAsNATS(t *testing.T) {
	_, overNATS := dial(t, client.Options{Tenant: "both"})
	overHTTP := connect(t, httpURL, client.Options{Tenant: "both"})
	run := sample(t, overHTTP, "a/b.c")
	for name, read := range reads("a/b.c", run) {
		want, wantErr := read(t.Context(), overNATS)
		got, err := read(t.Context(), overHTTP)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: over HTTP\n%+v\nover NATS\n%+v", name, got, want)
		}
		refused, _ := errors.AsType[*client.Error](err)
		expected, _ := errors.AsType[*client.Error](wantErr)
		switch {
		case (err == nil) != (wantErr == nil):
			t.Errorf("%s: over HTTP %v, over NATS %v", name, err, wantErr)
		case err != nil && (refused.Code != expected.Code || refused.Field != expected.Field || refused.Status != expected.Status):
			t.Errorf("%s: over HTTP %v (%d), over NATS %v (%d)", name, err, refused.Status, wantErr, expected.Status)
		}
	}
	if s, err := overHTTP.Status(t.Context()); err != nil || s.Role != "leader" {
		t.Errorf("the status: %+v, %v", s, err)
	}
}

// TestHTTPChanges makes each change over HTTP.
func TestHTTPChanges(t *testing.T) {
	ctx := t.Context()
	c := connect(t, httpURL+"/", client.Options{Tenant: "changes", By: "ann@test"})
	run := sample(t, c, "a/b")
	if again, err := c.Trigger(ctx, client.TriggerRequest{Name: "a/b", IdempotencyKey: "once"}); err != nil || again.RunID != run.RunID {
		t.Errorf("the same trigger: %v, %v", again.RunID, err)
	}
	if _, _, err := c.PutIfVersion(ctx, client.Job{Name: "a/b", Schedule: "@daily", Target: client.Target{Kind: "nats", Subject: "out"}}, 0); !client.IsConflict(err) {
		t.Errorf("a put of a job that is there: %v", err)
	}
	paused, err := c.PauseIfVersion(ctx, "a/b", "tests", 1)
	if err != nil || paused.StatusReason == "" {
		t.Errorf("a pause: %+v, %v", paused, err)
	}
	if _, err := c.Resume(ctx, "a/b", ""); err != nil {
		t.Error(err)
	}
	if got, err := c.Backfill(ctx, client.BackfillRequest{Name: "a/b", From: client.At(time.Now().AddDate(-3, 0, 0)), To: client.At(time.Now().Add(-time.Minute)), DryRun: true}); err != nil || got != 3 {
		t.Errorf("a backfill: %+v, %v", got, err)
	}
	if _, err := c.Extend(ctx, run.RunID, run.Fence+1, time.Minute); !errors.Is(err, client.CodeStaleFence) && !errors.Is(err, client.CodeInvalidField) {
		t.Errorf("an extension with another fence: %v", err)
	}
	if _, err := c.Report(ctx, client.ReportRequest{RunID: run.RunID, Fence: run.Fence + 1, Status: client.OutcomeSucceeded}); !errors.Is(err, client.CodeStaleFence) && !errors.Is(err, client.CodeInvalidField) {
		t.Errorf("a report with another fence: %v", err)
	}
	if got, err := c.CancelRun(ctx, run.RunID); err != nil || got.Status != "cancelled" {
		t.Errorf("a cancelled run: %+v, %v", got, err)
	}
	if _, err := c.RetryRun(ctx, run.RunID); err != nil {
		t.Error(err)
	}
	if got, err := c.RetryMany(ctx, client.RetryManyRequest{}); err != nil || got.Retried != 0 {
		t.Errorf("no dead run: %+v, %v", got, err)
	}
	if _, created, err := c.PutCalendar(ctx, client.CalendarRequest{Name: "days/off", Exclude: []string{"2026-12-25"}}); err != nil || !created {
		t.Errorf("a calendar: %v, %v", created, err)
	}
	if err := c.DeleteCalendar(ctx, "days/off"); err != nil {
		t.Error(err)
	}
	if _, err := c.DeleteIfVersion(ctx, "a/b", 77); !client.IsConflict(err) {
		t.Errorf("a delete of another version: %v", err)
	}
	if _, err := c.Delete(ctx, "a/b"); err != nil {
		t.Error(err)
	}
	if page, err := c.ListAudit(ctx, client.AuditRequest{By: "ann@test", Limit: 1}); err != nil || len(page.Entries) != 1 {
		t.Errorf("the audit log does not say who it was: %+v, %v", page, err)
	}
}

// TestHTTPPutAll registers more jobs than fit into one request.
func TestHTTPPutAll(t *testing.T) {
	c := connect(t, httpURL, client.Options{Tenant: "herd"})
	const n = 300
	totals, err := c.PutAll(t.Context(), func(yield func(client.Job) bool) {
		for i := range n {
			payload, _ := json.Marshal(strings.Repeat("x", 10_000))
			if !yield(client.Job{Name: fmt.Sprint("j", i), Schedule: "@yearly", Payload: payload, Target: client.Target{Kind: "nats", Subject: "out"}}) {
				return
			}
		}
	}, nil)
	if err != nil || totals.Accepted != n {
		t.Errorf("%+v, %v", totals, err)
	}
	jobs := 0
	for _, err := range c.Jobs(t.Context(), client.ListRequest{Limit: 100}) {
		if err != nil {
			t.Fatal(err)
		}
		jobs++
	}
	if jobs != n {
		t.Errorf("%d jobs", jobs)
	}
}

// TestOverNATSOnly: what has no path over HTTP says which URL is wanted.
func TestOverNATSOnly(t *testing.T) {
	c := connect(t, httpURL, client.Options{})
	_, err := c.OpenBackup(t.Context(), 0)
	_, err2 := c.Handover(t.Context(), 0, "")
	for _, err := range []error{err, err2} {
		if err == nil || !strings.Contains(err.Error(), "nats://") {
			t.Error(err)
		}
	}
}

// TestHTTPWithoutServer: no connection, a URL that is none, and programs that are no Carillon.
func TestHTTPWithoutServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	for url, want := range map[string]string{
		"http://" + l.Addr().String():    "connection refused",
		"http://":                        "want one URL",
		"https://a,https://b":            "want one URL",
		"http://ann:secret@127.0.0.1":    "shows a token",
		"http://127.0.0.1/?token=secret": "the address alone",
	} {
		_, err := client.Connect(url, client.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "ann:secret") {
			t.Errorf("%s: %v; want %q", url, err, want)
		}
	}
}

// TestConnectErrors: no error shows a user, a password or a token in a URL.
func TestConnectErrors(t *testing.T) {
	for _, url := range []string{"nats://ann:secret@127.0.0.1:1", "secret@127.0.0.1:1", "tls://a:1,nats://x:secret@127.0.0.1:1", "http://secret@127.0.0.1:1", "nats://ann:ab/secret@127.0.0.1:1", "nats://127.0.0.1:1?secret", "http://ann:ab/secret@127.0.0.1:1"} {
		_, err := client.Connect(url, client.Options{Timeout: 100 * time.Millisecond})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "127.0.0.1:1") && !strings.Contains(err.Error(), "address 1") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestHTTPForeign: answers that are not those of a Carillon have a code, and no token follows a redirect.
func TestHTTPForeign(t *testing.T) {
	var followed atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Store(true) }))
	defer elsewhere.Close()
	for status, want := range map[int]client.Code{
		200: client.CodeUnavailable, 302: client.CodeUnavailable, 401: client.CodeUnauthenticated, 403: client.CodeForbidden, 404: client.CodeUnavailable, 413: client.CodeTooLarge, 502: client.CodeUnavailable,
	} {
		proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Location", elsewhere.URL)
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte("<html>"))
		}))
		c := connect(t, proxy.URL, client.Options{Token: client.StaticToken("secret"), NoRetry: true})
		_, err := c.Get(t.Context(), "a")
		if !errors.Is(err, want) || strings.Contains(fmt.Sprint(err), "secret") || (status == 200) != errors.Is(err, client.ErrForeignReply) && status < 300 {
			t.Errorf("%d: %v; want %s", status, err, want)
		}
		proxy.Close()
	}
	if followed.Load() {
		t.Error("the client followed a redirect")
	}
}
