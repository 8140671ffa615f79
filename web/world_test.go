package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// webWorld is a server that answers HTTP, and a caller of it.
type webWorld struct {
	t      testing.TB
	base   string // URL
	http   *http.Client
	server *httptest.Server
}

// startWeb runs an HTTP server in front of a service. Change may set the server up before it starts.
func startWeb(t testing.TB, opts Options, change func(*http.Server)) *webWorld {
	t.Helper()
	opts.Logger = cmp.Or(opts.Logger, apitest.Quiet)
	server := httptest.NewUnstartedServer(nil)
	server.Config = New(reading{}, opts)
	if change != nil {
		change(server.Config)
	}
	server.Start()
	t.Cleanup(server.Close)
	return &webWorld{t: t, base: server.URL, http: server.Client(), server: server}
}

// serve runs a service in front of an engine, and returns the URL of its NATS server.
func serve(t testing.TB, engine api.Engine, opts api.Options, maxPayload int32) (*api.Service, string) {
	t.Helper()
	url := apitest.StartNATS(t, maxPayload)
	nc := apitest.Connect(t, url)
	opts.Logger = cmp.Or(opts.Logger, apitest.Quiet)
	s, err := api.NewService(nc, engine, opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	apitest.CloseAtEnd(t, s.Close)
	return s, url
}

// startWebOf runs HTTP and NATS in front of an engine, and returns the URL of NATS too.
func startWebOf(t testing.TB, engine api.Engine, opts api.Options) (*webWorld, string) {
	t.Helper()
	s, url := serve(t, engine, opts, 4<<20)
	return startWeb(t, Options{Executor: s.Executor, Node: opts.Node}, nil), url
}

// webReply is what came back.
type webReply struct {
	status int
	header http.Header
	body   string
}

// ask sends a request. Each header is "Name: value"; a body is announced as JSON unless they say otherwise.
func (w *webWorld) ask(method, path, body string, headers ...string) webReply {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	got := w.send(req)
	got.described(w.t, method, path)
	return got
}

func (w *webWorld) send(req *http.Request) webReply {
	w.t.Helper()
	got := testkit.Do(w.t, w.http, req)
	return webReply{got.Status, got.Header, got.Body}
}

// refusal returns the error in a reply; an empty one if there is none.
func (r webReply) refusal() client.Error {
	var e client.ErrorReply
	if json.Unmarshal([]byte(r.body), &e) != nil || e.Error == nil {
		return client.Error{}
	}
	return *e.Error
}

// refused checks that a reply refuses.
func (r webReply) refused(t testing.TB, what string, status int, code client.Code, field string) {
	t.Helper()
	if e := r.refusal(); r.status != status || e.Code != code || e.Field != field || len(e.Message) < 10 {
		t.Errorf("%s: %d, %.300s; want %d, %s on %q", what, r.status, r.body, status, code, field)
	}
	retry := r.header.Get("Retry-After") != ""
	if want := status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable; retry != want {
		t.Errorf("%s: Retry-After %q with %d", what, r.header.Get("Retry-After"), status)
	}
}
