package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

const (
	plantedJob = `{"name":"hook","schedule":"0 0 1 1 *","payload":{"n":1},` +
		`"target":{"kind":"http","url":"https://example.com/?page=1&access_token=planted-url"},` +
		`"headers":{"Authorization":"Bearer planted-auth","X-Api-Key":"planted-key","X-Team":"billing"}}`
	otherJob = `{"name":"other","schedule":"0 0 1 1 *","target":{"kind":"nats","subject":"out.new"},"headers":{"X-Team":"planted-nothing"}}`
)

// shows checks what a reply has of the planted job: masks and the mark of them, or the values.
func shows(t *testing.T, what, reply string, inClear bool) {
	t.Helper()
	for _, secret := range []string{"planted-url", "planted-auth", "planted-key"} {
		if strings.Contains(reply, secret) != inClear {
			t.Errorf("%s: %s in %s", what, secret, reply)
		}
	}
	if n := strings.Count(reply, job.Mask); inClear && n != 0 || !inClear && n != 3 {
		t.Errorf("%s: %d masks in %s", what, n, reply)
	}
	if strings.Contains(reply, `"credentials_masked":true`) == inClear || !strings.Contains(reply, "billing") || !strings.Contains(reply, "page=1") {
		t.Errorf("%s: %s", what, reply)
	}
}

// TestRepliesMaskCredentials: no reply has a credential of a job unless the request asks for that by name, over NATS
// and over HTTP, and what a reply has can be put again.
func TestRepliesMaskCredentials(t *testing.T) {
	w, url := startWebOf(t, apitest.StartEngine(t), api.Options{Rules: job.Rules{AllowPrivateTargets: true}})
	nc := apitest.Connect(t, url)
	verb := func(name, body string) string {
		t.Helper()
		return string(apitest.Ask(t, nc, "carillon.v1.default."+name, body, nil))
	}
	shows(t, "jobs.put", verb("jobs.put", plantedJob), false)
	got := verb("jobs.get", `{"name":"hook"}`)
	shows(t, "jobs.get", got, false)
	shows(t, "jobs.list", verb("jobs.list", `{}`), false)
	shows(t, "jobs.pause", verb("jobs.pause", `{"name":"hook"}`), false)
	shows(t, "jobs.resume", verb("jobs.resume", `{"name":"hook"}`), false)
	shows(t, "jobs.get false", verb("jobs.get", `{"name":"hook","with_credentials":false}`), false)
	shows(t, "jobs.list null", verb("jobs.list", `{"with_credentials":null}`), false)
	shows(t, "GET", w.ask("GET", "/api/v1/jobs/hook", "").body, false)
	shows(t, "GET list", w.ask("GET", "/api/v1/jobs?with_credentials=false", "").body, false)
	shows(t, "PUT", w.ask("PUT", "/api/v1/jobs/hook", plantedJob).body, false)

	var reply struct{ Job json.RawMessage }
	if err := json.Unmarshal([]byte(got), &reply); err != nil {
		t.Fatal(err)
	}
	shows(t, "put as got", verb("jobs.put", string(reply.Job)), false)
	if text := verb("jobs.put_many", `{"jobs":[`+string(reply.Job)+`]}`); !strings.Contains(text, `"accepted":1`) {
		t.Error(text)
	}
	shows(t, "PUT as got", w.ask("PUT", "/api/v1/jobs/hook", string(reply.Job)).body, false)
	shows(t, "jobs.get in clear", verb("jobs.get", `{"name":"hook","with_credentials":true}`), true)
	shows(t, "jobs.list in clear", verb("jobs.list", `{"with_credentials":true}`), true)
	shows(t, "GET in clear", w.ask("GET", "/api/v1/jobs/hook?with_credentials=true", "").body, true)
	shows(t, "GET list in clear", w.ask("GET", "/api/v1/jobs?with_credentials=true", "").body, true)

	verb("jobs.put", otherJob)
	if text := verb("jobs.get", `{"name":"other"}`); strings.Contains(text, "masked") || !strings.Contains(text, "planted-nothing") {
		t.Errorf("a job without credentials: %s", text)
	}
	w.ask("GET", "/api/v1/jobs/hook?with_credentials=yes", "").refused(t, "yes", 422, client.CodeInvalidField, "with_credentials")
	w.ask("GET", "/api/v1/jobs/hook?with_credential=true", "").refused(t, "a typo", 400, client.CodeUnknownField, "with_credential")
}

// TestMasksAreRefused: a mask that stands for nothing is refused by the member that has it, and nothing changes.
func TestMasksAreRefused(t *testing.T) {
	w, url := startWebOf(t, apitest.StartEngine(t), api.Options{Rules: job.Rules{AllowPrivateTargets: true}})
	c := apitest.NewClient(t, url, client.Options{})
	masked := strings.NewReplacer("Bearer planted-auth", job.Mask, "planted-key", job.Mask, "planted-url", job.Mask).Replace(plantedJob)
	w.ask("PUT", "/api/v1/jobs/hook", masked).refused(t, "a new job", 422, client.CodeInvalidField, "headers.Authorization")
	w.ask("PUT", "/api/v1/jobs/hook", plantedJob)
	for what, c := range map[string]struct{ old, with, field string }{
		"another header":    {"X-Api-Key", "X-Other-Key", "headers.X-Other-Key"},
		"another parameter": {"access_token", "token", "target.url"},
		"another host":      {"https://example.com", "https://example.org", "headers.Authorization"},
		"a part of it":      {`"` + job.Mask + `"`, `"Bearer ` + job.Mask + `"`, "headers.Authorization"},
	} {
		w.ask("PUT", "/api/v1/jobs/hook", strings.ReplaceAll(masked, c.old, c.with)).refused(t, what, 422, client.CodeInvalidField, c.field)
	}
	j, err := c.GetWithCredentials(t.Context(), "hook")
	if err != nil || j.Version != 1 || j.Headers["Authorization"] != "Bearer planted-auth" {
		t.Errorf("%+v, %v", j, err)
	}
	j.Headers["Authorization"] = client.Mask
	if _, _, err := c.PutIfVersion(t.Context(), j.Job, 7); !client.IsConflict(err) {
		t.Errorf("a mask at another version: %v", err)
	}
}
