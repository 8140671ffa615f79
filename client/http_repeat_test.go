package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestHTTPRepeats: a request that was not sent is repeated, and one whose outcome is unknown only if it may be.
// Each verb has a route, which the server's own description has too. The refusal of a repetition does not say what became of
// the first try, so the error of a change says that this is unknown.
func TestHTTPRepeats(t *testing.T) {
	paths := describedPaths(t)
	for i, v := range verbCalls {
		var asked atomic.Int32
		proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/healthz" {
				return
			}
			if asked.Add(1) == 1 {
				if !described(paths, req) {
					t.Errorf("%s: the server has no %s %s", v.name, req.Method, req.URL.EscapedPath())
				}
				panic(http.ErrAbortHandler) // the connection breaks after the request has arrived
			}
			rw.WriteHeader(http.StatusNotFound)
			_, _ = rw.Write([]byte(`{"error":{"code":"not_found","message":"gone"}}`))
		}))
		c := connect(t, proxy.URL, client.Options{Tenant: fmt.Sprint("t", i)})
		err := v.call(t.Context(), c)
		switch n := asked.Load(); {
		case v.again && (!client.IsNotFound(err) || client.IsUnavailable(err) || n != 2):
			t.Errorf("%s: asked %d times, %v; want it to be sent again", v.name, n, err)
		case v.again && strings.Contains(err.Error(), "unknown") != isChange(v.name):
			t.Errorf("%s: %v", v.name, err)
		case !v.again && (!errors.Is(err, client.CodeUnavailable) || n != 1):
			t.Errorf("%s: asked %d times, %v; want it to be sent once", v.name, n, err)
		}
		c.Close()
		proxy.Close()
	}
}

// describedPaths returns the methods of each path in the description of the API.
func describedPaths(t *testing.T) (paths map[string]map[string]any) {
	t.Helper()
	res, err := http.Get(httpURL + "/api/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var document struct{ Paths map[string]map[string]any }
	if err := json.NewDecoder(res.Body).Decode(&document); err != nil || len(document.Paths) < 10 {
		t.Fatalf("%d paths, %v", len(document.Paths), err)
	}
	return document.Paths
}

// described reports whether the description has the method and the path of a request.
func described(paths map[string]map[string]any, req *http.Request) bool {
	asked := strings.Split(req.URL.EscapedPath(), "/")
	for path, methods := range paths {
		parts := strings.Split(path, "/")
		same := len(parts) == len(asked)
		for i := 0; same && i < len(parts); i++ {
			same = parts[i] == asked[i] || strings.HasPrefix(parts[i], "{")
		}
		if _, ok := methods[strings.ToLower(req.Method)]; same && ok {
			return true
		}
	}
	return false
}
