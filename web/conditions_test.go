package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
)

// TestConditions follows a job through versions that callers demand.
func TestConditions(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	job := apitest.JobWith("name", "-")
	const path = "/api/v1/jobs/a/b"
	for i, c := range []struct {
		method, body, header string
		status               int
		code                 client.Code // "" for a success
		field, tag           string
	}{
		{"PUT", job, `If-Match: "1"`, 412, client.CodeVersionConflict, "if_version", ""},
		{"PUT", job, "If-None-Match: *", 201, "", "", `"1"`},
		{"PUT", job, "If-None-Match: *", 412, client.CodeAlreadyExists, "name", ""},
		{"PUT", apitest.JobWith("name", "-", "if_version", "0"), "", 409, client.CodeAlreadyExists, "name", ""}, // no header said so
		{"PUT", apitest.JobWith("name", "-", "jitter", `"1s"`), `If-Match: "1"`, 200, "", "", `"2"`},
		{"PUT", job, `If-Match: "1"`, 412, client.CodeVersionConflict, "if_version", ""},
		{"PUT", apitest.JobWith("name", "-", "if_version", "2"), `If-Match: "2"`, 200, "", "", `"3"`},
		{"PUT", apitest.JobWith("name", "-", "if_version", "3"), `If-Match: "2"`, 422, client.CodeInvalidField, "if_version", ""},
		{"PUT", job, `If-Match: *`, 422, client.CodeInvalidField, "If-Match", ""},
		{"PUT", job, `If-Match: W/"3"`, 422, client.CodeInvalidField, "If-Match", ""},
		{"PUT", job, `If-Match: "3", "4"`, 422, client.CodeInvalidField, "If-Match", ""},
		{"PUT", job, `If-Match: "0"`, 422, client.CodeInvalidField, "If-Match", ""},
		{"PUT", job, `If-Match: 3`, 422, client.CodeInvalidField, "If-Match", ""},
		{"PUT", job, `If-Match: "4294967296"`, 422, client.CodeInvalidField, "If-Match", ""},
		{"PUT", job, `If-None-Match: "3"`, 422, client.CodeInvalidField, "If-None-Match", ""},
		{"GET", "", `If-None-Match: "3"`, 304, "", "", `"3"`},
		{"HEAD", "", `If-None-Match: "3"`, 304, "", "", `"3"`},
		{"GET", "", `If-None-Match: "1", W/"3"`, 304, "", "", `"3"`},
		{"GET", "", `If-None-Match: *`, 304, "", "", `"3"`},
		{"GET", "", `If-None-Match: "2"`, 200, "", "", `"3"`},
		{"GET", "", `If-Match: "3"`, 422, client.CodeInvalidField, "If-Match", ""},
		{"DELETE", "", `If-Match: "2"`, 412, client.CodeVersionConflict, "if_version", ""},
		{"DELETE", "", `If-Match: *`, 422, client.CodeInvalidField, "If-Match", ""},
		{"DELETE", "", `If-Match: `, 422, client.CodeInvalidField, "If-Match", ""},
		{"DELETE", "", `If-None-Match: *`, 422, client.CodeInvalidField, "If-None-Match", ""},
		{"DELETE", "", `If-Match: "3"`, 200, "", "", ""},
		{"DELETE", "", `If-Match: "3"`, 404, client.CodeNotFound, "name", ""},
		{"GET", "", `If-None-Match: *`, 404, client.CodeNotFound, "name", ""},
	} {
		var headers []string
		if c.header != "" {
			headers = append(headers, c.header)
		}
		reply := w.ask(c.method, path, c.body, headers...)
		e := reply.refusal()
		if reply.status != c.status || e.Code != c.code || e.Field != c.field || reply.header.Get("ETag") != c.tag {
			t.Errorf("step %d, %s with %s: %d, ETag %q, %s; want %d, %q, %s on %q",
				i, c.method, c.header, reply.status, reply.header.Get("ETag"), reply.body, c.status, c.tag, c.code, c.field)
		}
		if c.status == http.StatusNotModified && reply.body != "" {
			t.Errorf("step %d: 304 with %q", i, reply.body)
		}
	}
}

// TestIdempotencyKey triggers a job twice with a key of the header, and with one of the body.
func TestIdempotencyKey(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	w.ask("PUT", "/api/v1/jobs/a", apitest.JobWith("name", "-", "overlap_policy", `"allow"`))
	trigger := func(body string, headers ...string) string {
		reply := w.ask("POST", "/api/v1/jobs/a/trigger", body, headers...)
		id, _, _ := strings.Cut(strings.TrimPrefix(reply.body, `{"run":{"run_id":"`), `"`)
		if reply.status != 200 || id == "" {
			t.Fatalf("%d %s", reply.status, reply.body)
		}
		return id
	}
	for _, header := range []string{"Idempotency-Key: ", "Carillon-Tenant: "} {
		reply := w.ask("POST", "/api/v1/jobs/a/trigger", "", header)
		reply.refused(t, "an empty "+header, 422, client.CodeInvalidField, strings.TrimSuffix(header, ": "))
	}
	w.ask("POST", "/api/v1/jobs/a/trigger", `{"idempotency_key":""}`).refused(t, "an empty key", 422, client.CodeInvalidField, "idempotency_key")
	if runs := w.ask("GET", "/api/v1/jobs/a/runs", ""); strings.Contains(runs.body, "run_id") {
		t.Errorf("a refused trigger made a run: %s", runs.body)
	}
	first := trigger("", "Idempotency-Key: k")
	for _, again := range []string{
		trigger("", "Idempotency-Key: k"), trigger(`{"idempotency_key":"k"}`), trigger(`{"idempotency_key":"\u006b"}`, "Idempotency-Key: k"),
	} {
		if again != first {
			t.Errorf("the same key gave %s and %s", first, again)
		}
	}
	if other := trigger("", "Idempotency-Key: l"); other == first {
		t.Error("another key gave the same run")
	}
	w.ask("POST", "/api/v1/jobs/a/trigger", `{"idempotency_key":"l"}`, "Idempotency-Key: k").
		refused(t, "two keys", 422, client.CodeInvalidField, "idempotency_key")
	w.ask("POST", "/api/v1/jobs/a/trigger", "", "Idempotency-Key: "+strings.Repeat("k", 129)).
		refused(t, "a long key", 413, client.CodeTooLarge, "idempotency_key")
}

// TestOtherSites checks what browsers send for pages of other sites: they may change nothing.
func TestOtherSites(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	job := apitest.JobWith("name", "-")
	for _, header := range []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://evil.example", "Origin: null"} {
		for _, c := range []struct{ method, path, body string }{
			{"PUT", "jobs/a", job}, {"POST", "jobs", apitest.JobWith()}, {"DELETE", "jobs/a", ""}, {"POST", "jobs/a/trigger", ""}, {"POST", "runs/retry", ""},
		} {
			w.ask(c.method, apiRoot+c.path, c.body, header).refused(t, c.method+" "+header, 403, "cross_origin", "")
		}
		got := w.ask("GET", "/api/v1/jobs", "", header)
		if got.status != 200 || got.body != "{\"jobs\":[]}\n" || got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("GET with %s: %d %s %v", header, got.status, got.body, got.header)
		}
	}
	for _, header := range []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Origin: " + w.base} {
		if got := w.ask("PUT", "/api/v1/jobs/a", job, header); got.status >= 300 {
			t.Errorf("%s: %d %s", header, got.status, got.body)
		}
	}
}

// TestMediaTypes checks which bodies are read at all.
func TestMediaTypes(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	job := apitest.JobWith("name", "-")
	for _, kind := range []string{"application/json", "application/json; charset=UTF-8", "Application/JSON"} {
		if got := w.ask("PUT", "/api/v1/jobs/a", job, "Content-Type: "+kind); got.status >= 300 {
			t.Errorf("%s: %d %s", kind, got.status, got.body)
		}
	}
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/merge-patch+json", ";"} {
		w.ask("PUT", "/api/v1/jobs/b", job, "Content-Type: "+kind).refused(t, kind, 415, "unsupported_media_type", "Content-Type")
	}
	w.ask("PUT", "/api/v1/jobs/b", job, "Content-Encoding: gzip").refused(t, "gzip", 415, "unsupported_media_type", "Content-Type")
}

// TestMethods checks that a path lists its methods.
func TestMethods(t *testing.T) {
	w, _ := startWebOf(t, apitest.StartEngine(t), api.Options{})
	for _, c := range []struct{ method, path, allow string }{
		{"POST", "jobs/a", "DELETE, GET, HEAD, PUT"}, {"GET", "jobs/a/pause", "POST"}, {"PUT", "jobs/a/runs", "GET, HEAD"},
		{"DELETE", "jobs", "GET, HEAD, POST"}, {"POST", "status", "GET, HEAD"}, {"PATCH", "runs/1", "GET, HEAD"}, {"OPTIONS", "audit", "GET, HEAD"},
	} {
		got := w.ask(c.method, apiRoot+c.path, "")
		got.refused(t, c.method+" "+c.path, 405, "method_not_allowed", "")
		if got.header.Get("Allow") != c.allow {
			t.Errorf("%s %s: Allow %q, want %q", c.method, c.path, got.header.Get("Allow"), c.allow)
		}
	}
	w.ask("GET", "/api/v1/nothing", "").refused(t, "no such path", 404, client.CodeNotFound, "")
	w.ask("GET", "/api/v2/jobs", "").refused(t, "another version", 404, client.CodeNotFound, "")
}
