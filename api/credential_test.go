package api

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

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
	w, url := startWebOf(t, apitest.StartEngine(t), Options{Rules: job.Rules{AllowPrivateTargets: true}})
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
	w, url := startWebOf(t, apitest.StartEngine(t), Options{Rules: job.Rules{AllowPrivateTargets: true}})
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

// TestAuditOfTheFirstRelease: entries that were written with credentials are read without, and show what was replaced.
func TestAuditOfTheFirstRelease(t *testing.T) {
	d, c := startDesk(t, 0)
	d.Entries = apitest.DeskEntries(1)
	before := apitest.WholeJob().Def
	before.Target.URL = "https://example.com/?token=planted-1"
	before.Headers = []job.Pair{{Key: "Authorization", Value: "planted-2"}, {Key: "X-Key", Value: "planted-3"}}
	after := before
	after.Headers = []job.Pair{{Key: "Authorization", Value: "planted-4"}, {Key: "X-Key", Value: "planted-3"}}
	d.Entries[0].Before, d.Entries[0].After = job.EncodeDefinition(&before), job.EncodeDefinition(&after)
	page, err := c.ListAudit(t.Context(), client.AuditRequest{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(page)
	if err != nil || strings.Contains(string(text), "planted") {
		t.Errorf("%s, %v", text, err)
	}
	if from, to := page.Entries[0].Before, page.Entries[0].After; from.Headers["Authorization"] != job.Mask || to.Headers["Authorization"] != job.MaskChanged ||
		to.Headers["X-Key"] != job.Mask || to.Target.URL != "https://example.com/?token="+job.Mask {
		t.Errorf("%v became %v, with %s", from.Headers, to.Headers, to.Target.URL)
	}
	if job.Mask != client.Mask {
		t.Error("the client has another mask than the server")
	}
}

// TestRunsMaskCredentials: errors of runs that an older release wrote, and before errors were masked when they are written.
func TestRunsMaskCredentials(t *testing.T) {
	const text, want = `Post "https://ann:planted@x.y/?sig=planted": refused`, `Post "https://ann:********@x.y/?sig=********": refused`
	v := apitest.DeskRun
	v.Error, v.Attempts = text, []job.Attempt{{Number: 1, Error: text}}
	if run := runOf(&v); run.Error != want || attemptsOf(&v)[0].Error != want {
		t.Errorf("%s, %+v", run.Error, attemptsOf(&v))
	}
}

// TestHeadersOfOneNameFromAnOlderRelease: a job that an older release took with two headers which differ in case alone is
// shown and runs; put back as it is shown it is refused, and with one of the two it keeps that one's credential.
func TestHeadersOfOneNameFromAnOlderRelease(t *testing.T) {
	engine := apitest.StartEngine(t)
	old := job.Defaults()
	old.Tenant, old.Name, old.Schedule, old.Target = "default", "a", "@yearly", job.Target{Kind: job.TargetNATS, Subject: "out.a"}
	old.Headers = []job.Pair{{Key: "Authorization", Value: "upper"}, {Key: "authorization", Value: "lower"}}
	if _, _, err := engine.Put(t.Context(), &old, nil); err != nil { // an engine checks no definitions: its callers do
		t.Fatal(err)
	}
	_, url := startService(t, engine, Options{}, 0)
	c := apitest.NewClient(t, url, client.Options{})
	shown, err := c.Get(t.Context(), "a")
	if err != nil || len(shown.Headers) != 2 {
		t.Fatalf("%+v, %v", shown, err)
	}
	if _, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "a"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Pause(t.Context(), "a", ""); err != nil {
		t.Error(err)
	}
	_, _, err = c.Put(t.Context(), shown.Job)
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != client.CodeInvalidField || e.Field != "headers.authorization" {
		t.Errorf("as it is shown: %v", err)
	}
	delete(shown.Headers, "Authorization")
	if _, _, err := c.Put(t.Context(), shown.Job); err != nil {
		t.Error(err)
	}
	if clear, err := c.GetWithCredentials(t.Context(), "a"); err != nil || len(clear.Headers) != 1 || clear.Headers["authorization"] != "lower" {
		t.Errorf("%+v, %v", clear.Headers, err)
	}
}
