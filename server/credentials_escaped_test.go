package server_test

import (
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// escapers are forms in which a target repeats a credential, by the path of its URL.
var escapers = map[string]func(string) string{
	"path": func(v string) string { return strings.ReplaceAll(url.QueryEscape(v), "%2F", "/") },
	"lower": func(v string) string {
		return strings.NewReplacer("/", "%2f", "+", "%2b", "=", "%3d", "&", "%26").Replace(v)
	},
	"json": func(v string) string {
		return strings.NewReplacer("/", `\/`, `"`, `\"`, "&", `\u0026`, "<", `\u003c`).Replace(v)
	},
	"html": func(v string) string {
		return strings.NewReplacer("+", "&#43;", "=", "&#x3D;").Replace(html.EscapeString(v))
	},
	"quot":  func(v string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;").Replace(v) },
	"twice": func(v string) string { return url.QueryEscape(url.QueryEscape(v)) },
}

// TestEscapedCredentials: no run shows a credential that its target repeats in an escaped form.
func TestEscapedCredentials(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(rw, "the key "+escapers[req.URL.Path[1:]](req.Header.Get("X-Api-Key"))+" is refused")
	}))
	t.Cleanup(target.Close)
	s, err := server.Start(t.Context(), options(filepath.Join(t.TempDir(), "data")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	_, c := connect(t, s)
	for form := range escapers {
		for i, key := range []string{"planted/K7+bPx==", `planted&K7<b"c/`} {
			name := fmt.Sprint(form, i)
			j := client.Job{
				Name: name, Schedule: "@yearly", Target: client.Target{Kind: "http", URL: target.URL + "/" + form},
				Headers: map[string]string{"X-Api-Key": key}, Retry: client.Retry{MaxAttempts: 1},
			}
			if _, _, err := c.Put(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			testkit.Until(t, name+" is dead", func() bool {
				run, err = c.Run(t.Context(), run.RunID)
				return err != nil || run.Status == "dead"
			})
			if want := "HTTP 400: the key " + client.Mask + " is refused"; err != nil || run.Error != want {
				t.Errorf("%s: %q, %v; want %q", name, run.Error, err, want)
			}
		}
	}
}

// TestHeadersOfOneName: two headers that differ in case alone are refused by name.
func TestHeadersOfOneName(t *testing.T) {
	s, err := server.Start(t.Context(), options(filepath.Join(t.TempDir(), "data")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	_, c := connect(t, s)
	j := client.Job{Name: "a", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "a"}, Headers: map[string]string{"Authorization": "one", "authorization": "two"}}
	_, _, err = c.Put(t.Context(), j)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.CodeInvalidField || e.Field != "headers.authorization" || !strings.Contains(e.Message, "Authorization") {
		t.Errorf("%v", err)
	}
}
