package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

func TestHTTP(t *testing.T) {
	engine := apitest.StartEngine(t)
	service, url := serve(t, engine, api.Options{}, 0)
	nc := apitest.Connect(t, url)
	over := apitest.Ask(t, nc, "carillon.v1.default.status", "", nil)
	shown := http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, "some 1\n") })
	h := New(engine, Options{Logger: apitest.Quiet, Executor: service.Executor, Metrics: shown}).Handler

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
		{"POST", "/healthz", 405, `"code":"method_not_allowed"`},
	} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(c.method, "http://127.0.0.1"+c.path, nil))
		if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.contains) {
			t.Errorf("%s %s: %d %.300s; want %d with %s", c.method, c.path, rec.Code, rec.Body, c.status, c.contains)
		}
	}
}

// reading is an engine with nothing but a status.
type reading struct {
	api.Engine
	status scheduler.Status
}

func (r reading) Status() scheduler.Status { return r.status }

func (reading) TenantQuotas() []scheduler.TenantQuota { return nil }

func TestReadiness(t *testing.T) {
	standby := scheduler.Status{Role: "standby", LSN: 7, AppliedLSN: 7}
	for _, c := range []struct {
		status  scheduler.Status
		cluster *client.Cluster
		want    int
	}{
		{scheduler.Status{Role: "leader"}, nil, 200},
		{scheduler.Status{Role: "leader", ClockBehind: time.Hour}, nil, 200},
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
		opts := Options{Logger: apitest.Quiet}
		if c.cluster != nil {
			c.cluster.Role = c.status.Role
			opts.Cluster = func() *client.Cluster { return c.cluster }
		}
		New(reading{status: c.status}, opts).Handler.ServeHTTP(rec, httptest.NewRequest("GET", "http://127.0.0.1/readyz", nil))
		if rec.Code != c.want {
			t.Errorf("%+v, %+v: %d, want %d", c.status, c.cluster, rec.Code, c.want)
		}
		if got := strings.Contains(rec.Body.String(), `"clock":"the clock is 1h0m0s behind`); got != (c.status.ClockBehind > 0) {
			t.Errorf("%+v: %s", c.status, rec.Body)
		}
	}
}
