package api

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

func TestHTTP(t *testing.T) {
	engine := apitest.StartEngine(t)
	service, url := startService(t, engine, Options{}, 0)
	nc := apitest.Connect(t, url)
	over := apitest.Ask(t, nc, "carillon.v1.default.status", "", nil)
	shown := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "some 1\n") })
	h := NewHTTP(engine, HTTPOptions{Logger: apitest.Quiet, Executor: service.Executor, Metrics: shown}).Handler

	for _, c := range []struct {
		method, path string
		status       int
		contains     string
	}{
		{"GET", "/healthz", 200, `"status":"ok"`},
		{"GET", "/readyz", 200, `"role":"leader"`},
		{"GET", "/api/v1/status", 200, string(over)},
		{"GET", "/metrics", 200, "some 1"},
		{"GET", "/", 404, `"code":"not_found"`},
		{"GET", "/api/v1/jobs/%ff", 422, `"code":"invalid_name"`},
		{"POST", "/healthz", 404, `"code":"not_found"`},
	} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(c.method, c.path, nil))
		if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.contains) {
			t.Errorf("%s %s: %d %.300s; want %d with %s", c.method, c.path, rec.Code, rec.Body, c.status, c.contains)
		}
	}
}

// reading is an engine with nothing but a status.
type reading struct {
	Engine
	status scheduler.Status
}

func (r reading) Status() scheduler.Status { return r.status }

func TestReadiness(t *testing.T) {
	standby := scheduler.Status{Role: "standby", LSN: 7, AppliedLSN: 7}
	for _, c := range []struct {
		status  scheduler.Status
		cluster *client.Cluster
		want    int
	}{
		{scheduler.Status{Role: "leader"}, nil, 200},
		{standby, nil, 200},
		{scheduler.Status{Role: "standby", LSN: 7, AppliedLSN: 6}, nil, 503},
		{scheduler.Status{}, nil, 503},
		{scheduler.Status{Role: "leader"}, &client.Cluster{TrustMS: 1}, 200},
		{scheduler.Status{Role: "leader"}, &client.Cluster{}, 503},
		{standby, &client.Cluster{Lag: 1000, LagMS: 5000}, 200},
		{standby, &client.Cluster{Lag: 1001, LagMS: 10}, 503},
		{standby, &client.Cluster{Lag: 1, LagMS: 59000}, 503},
		{standby, &client.Cluster{LagMS: 59000}, 503}, // it hears no leader
	} {
		rec := httptest.NewRecorder()
		opts := HTTPOptions{Logger: apitest.Quiet}
		if c.cluster != nil {
			c.cluster.Role = c.status.Role
			opts.Cluster = func() *client.Cluster { return c.cluster }
		}
		NewHTTP(reading{status: c.status}, opts).Handler.ServeHTTP(rec, httptest.NewRequest("GET", "/readyz", nil))
		if rec.Code != c.want {
			t.Errorf("%+v, %+v: %d, want %d", c.status, c.cluster, rec.Code, c.want)
		}
	}
}

// TestStatusIsWhole reads the counts that a status has beside the plain ones.
func TestStatusIsWhole(t *testing.T) {
	st := scheduler.Status{
		Cancelled: 1, Retried: 2, Stale: 3, Reporting: 4, Notices: 5, NoticesLost: 6,
		CatchUp: scheduler.CatchUp{Jobs: 7, Rate: 1000.5, Left: 90*time.Second + 400*time.Microsecond},
	}
	st.SkippedBy[job.ReasonOverlap], st.SkippedBy[job.ReasonWindow] = 8, 9
	got := statusInfo(st, "dev", nil)
	if want := map[string]uint64{"overlap": 8, "window": 9}; !maps.Equal(got.SkippedBy, want) {
		t.Errorf("skipped by %v, want %v", got.SkippedBy, want)
	}
	if want := (client.CatchUp{Jobs: 7, Rate: 1000.5, Left: client.Duration(90 * time.Second)}); got.CatchUp != want {
		t.Errorf("catch up %+v, want %+v", got.CatchUp, want)
	}
	if got.Cancelled != 1 || got.Retried != 2 || got.StaleReports != 3 || got.Reporting != 4 || got.Notices != 5 || got.NoticesLost != 6 {
		t.Errorf("%+v", got)
	}
}

// TestStatusOfContract checks that every error code of the client has a status.
func TestStatusOfContract(t *testing.T) {
	for _, code := range []client.Code{
		client.CodeInvalidJSON, client.CodeUnknownField, client.CodeInvalidName, client.CodeInvalidSchedule, client.CodeInvalidTimezone,
		client.CodeInvalidTarget, client.CodeInvalidField, client.CodeTooLarge, client.CodeNotFound, client.CodeVersionConflict,
		client.CodeAlreadyExists, client.CodeStaleFence, client.CodeQuotaExceeded, client.CodeRateLimited, client.CodeNotLeader,
		client.CodeUnavailable, client.CodeInternal,
	} {
		found := false
		for known := range statusOf {
			found = found || string(known) == string(code)
		}
		if !found {
			t.Errorf("%s has no status", code)
		}
	}
	var shown map[string]any
	if err := json.Unmarshal(ErrorBody(&client.Error{Code: client.CodeInternal, Message: "bad \xff text"}), &shown); err != nil {
		t.Error(err)
	}
}
