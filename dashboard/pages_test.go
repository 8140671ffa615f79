package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// pageBytesMax is how large no page may get.
const pageBytesMax = 1 << 20

// check reads a page and what must be on it.
func (w *world) check(path string, status int, contains ...string) {
	w.t.Helper()
	got := w.get(path)
	if got.status != status {
		w.t.Errorf("%s: %d, want %d", path, got.status, status)
	}
	if err := checkHTML(got.body); err != nil {
		w.t.Errorf("%s: %v", path, err)
	}
	if len(got.body) > pageBytesMax {
		w.t.Errorf("%s has %d bytes", path, len(got.body))
	}
	for _, text := range contains {
		if !strings.Contains(got.body, text) {
			w.t.Errorf("%s has no %s", path, text)
		}
	}
	if h := got.header; !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") || h.Get("Cache-Control") != "no-store" ||
		h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" || !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
		w.t.Errorf("%s has the headers %v", path, h)
	}
}

// TestPages opens every page of a server that has something to show.
func TestPages(t *testing.T) {
	w := newWorld(t)
	w.check("/jobs", 200, "There is no job yet.")
	w.put(client.Job{
		Name: "reports/daily", Schedule: "30 2 * * *", Timezone: "Europe/Berlin", Payload: []byte(`{"n":1}`),
		Labels: map[string]string{"team": "billing"}, Description: "Sums the day up.",
	})
	run := w.dead("broken")
	w.check("/", 200, `id="figure-armed">2<`, `id="figure-dead">1<`, `id="figure-fired"`, `id="figure-in-flight"`, "v9.9.9", `aria-current="page">Overview`)
	w.check("/jobs", 200, `data-job="reports/daily"`, `data-job="broken"`, "team=billing", "Europe/Berlin", `data-action="search"`)
	w.check("/jobs?prefix=rep&status=active&label=team%3Dbilling", 200, `data-job="reports/daily"`)
	w.check("/jobs?limit=1", 200, `data-job="broken"`, `rel="next"`)
	w.check("/jobs?prefix=nothing", 200, "No job matches.")
	w.check("/jobs?contains=DAIL&last_run=&target=", 200, `data-job="reports/daily"`, `/jobs?contains=DAIL&amp;label=team%3Dbilling`)
	w.check("/jobs?contains=weekly", 200, "No job matches.")
	w.check("/jobs?target=no.such", 200, "No job matches.")
	w.check("/jobs?last_run=failed", 200, `data-job="broken"`, `<option value="failed" selected>`)
	w.check("/jobs?last_run=odd", 422, `role="alert"`)
	w.check("/jobs?label=team", 422, `role="alert"`, "want key=value")
	w.check("/jobs?status=odd", 422, `role="alert"`)
	w.check("/jobs?limit=0", 422, `role="alert"`)
	w.check("/job?name=reports%2Fdaily", 200, `id="status" class="pill good">active`, "Sums the day up.", `id="times"`, "02:30:00 CE", `data-confirm="pause"`, `data-confirm="trigger"`, `data-confirm="delete"`)
	w.check("/job?name=broken", 200, `data-run="`+run.RunID+`" data-status="dead"`, "by hand")
	w.put(client.Job{Name: "counted", Schedule: "@every 1h", Paused: true})
	w.check("/job?name=counted", 200, "known when the job is resumed", `class="pill warn">paused`)
	w.check("/job?name=unknown", 404, `role="alert"`)
	w.check("/job", 422, `role="alert"`)
	w.check("/new?schedule=%40daily", 200, `name="target_kind"`, `>@daily</textarea>`, `data-action="register"`)
	w.check("/job/edit?name=reports%2Fdaily", 200, `name="if_version" value="1"`, "team=billing", "&#34;if_version&#34;: 1")
	w.check("/job/edit?name=unknown", 404, `role="alert"`)
	w.check("/runs", 200, `data-run="`+run.RunID+`"`, `data-confirm="retry"`)
	w.check("/runs?job=broken", 200, `data-status="dead"`)
	w.check("/runs?status=running", 422, `role="alert"`)
	w.check("/runs?job=broken&from=yesterday", 422, "is not a time")
	w.check("/runs?job=broken&from=2020-01-01T00:00&to=2020-01-02", 200, "No run matches.")
	w.check("/run?id="+run.RunID, 200, `id="run-status" class="pill bad">dead`, `id="attempts"><tr>`, `data-confirm="retry"`)
	w.check("/run?id=odd", 422, `role="alert"`)
	w.check("/audit", 200, `id="audit"`, "<code>create</code>")
	w.check("/audit?action=trigger&name=broken", 200, "<code>trigger</code>")
	w.check("/audit?action=odd", 422, `role="alert"`)
	w.check("/playground", 200, `data-action="preview"`, "examples")
	w.check("/docs", 200, `id="jobs.put"`, `id="type-JobInfo"`, `href="/api/v1/openapi.json"`, `<a href="/docs">API</a>`)
	w.check("/playground?schedule=30+2+*+*+*&timezone=Europe%2FBerlin&after=2027-03-27T00:00&count=3", 200, `id="times"`, "does not exist on 2027-03-28")
	w.check("/playground?schedule=CRON_TZ%3DAsia%2FTokyo+0+8+*+*+*", 200, `data-zone="Asia/Tokyo"`, "08:00:00 JST")
	w.check("/playground?schedule=nonsense", 422, `role="alert"`, `field-error`, `>nonsense</textarea>`, `aria-invalid="true"`)
	w.check("/playground?schedule=%40daily&count=many", 422, `role="alert"`, "count")
	w.check("/nowhere", 404, "There is no such page")
	w.check("/job/pause", 405, "POST")
	w.check("/?notice=many&n=7", 200, `role="status">Runs that begin another attempt: 7.`)
	w.check("/?notice=deleted&n=call+this+number", 200, `role="status">The job ? is deleted.`)
	w.check("/?tenant=other", 200, `tenant <bdi>other</bdi>`, `href="/jobs?tenant=other"`)
	w.check("/jobs?tenant=other", 200, "There is no job yet.", `type="hidden" name="tenant" value="other"`)
	w.check("/jobs?tenant=a.b", 422, `role="alert"`)
}

// TestPrograms: who does not ask for HTML gets an error that a program can read, and the API is untouched.
func TestPrograms(t *testing.T) {
	w := newWorld(t)
	for path, want := range map[string]string{
		"/nowhere": `"code":"not_found"`, "/api/v2": `"code":"not_found"`, "/api/v1/jobs/x": `"code":"not_found"`,
		"/job/pause": `"code":"method_not_allowed"`, "/healthz": `"status":"ok"`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", w.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.do(req); !strings.Contains(got.body, want) || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %.300s", path, got.status, got.body)
		}
	}
}

// TestAssets loads what the pages refer to. It never changes under its name.
func TestAssets(t *testing.T) {
	w := newWorld(t)
	page := w.get("/").body
	found := regexp.MustCompile(`/assets/[a-z]+\.[0-9a-f]{12}\.(css|js|svg)`).FindAllString(page, -1)
	if len(found) != 3 {
		t.Errorf("the page refers to %v", found)
	}
	for _, path := range found {
		if got := w.get(path); got.status != 200 || len(got.body) < 100 || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", path, got.status, got.header)
		}
	}
	if got := w.get("/assets/style.css"); got.status != 404 {
		t.Errorf("an asset without its hash: %d", got.status)
	}
}

// hostile are texts that want to be more than text.
var hostile = []string{"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, `'"</textarea><b>`, "a\u202eb\u2066c", "\x1b[31m\x07", "{{.}}", "javascript:alert(1)"}

// TestHostileText puts such texts wherever a person can write, and looks at every page: none of them becomes
// part of it.
func TestHostileText(t *testing.T) {
	w := newWorld(t)
	labels, headers := map[string]string{}, map[string]string{}
	for i, text := range hostile {
		text = strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, text)
		labels["l"+string(rune('a'+i))] = text
		headers["X-L"+string(rune('a'+i))] = strings.ToValidUTF8(text, "")
	}
	all := strings.Join(hostile, " ")
	payload := []byte(`{"text":"<script>alert(1)</script>\u202e"}`)
	run := w.dead("victim")
	w.put(client.Job{
		Name: "victim", Target: client.Target{Kind: "request", Subject: "nobody.<script>alert(1)</script>"}, Retry: client.Retry{MaxAttempts: 1},
		Description: all, Labels: labels, Payload: payload,
	})
	if _, err := w.client.Pause(t.Context(), "victim", all); err != nil {
		t.Log("a reason is refused:", err)
	}
	q := url.QueryEscape(all)
	paths := []string{"/", "/jobs", "/job?name=victim", "/job/edit?name=victim", "/runs", "/runs?job=victim", "/dead", "/run?id=" + run.RunID, "/audit"}
	for _, field := range []string{
		"/jobs?prefix=", "/jobs?contains=", "/jobs?target=", "/jobs?last_run=", "/jobs?label=", "/jobs?label=a%3D", "/jobs?status=", "/jobs?cursor=", "/jobs?limit=", "/jobs?tenant=", "/job?name=",
		"/job/edit?name=", "/new?name=", "/new?schedule=", "/new?timezone=", "/runs?job=", "/runs?status=", "/runs?from=", "/runs?to=", "/runs?cursor=", "/runs?cause=", "/dead?job=",
		"/run?id=", "/audit?name=", "/audit?action=", "/audit?by=", "/audit?cursor=", "/playground?schedule=", "/playground?schedule=%40daily&timezone=",
		"/playground?schedule=%40daily&starts_at=", "/playground?schedule=%40daily&after=", "/playground?schedule=%40daily&count=",
		"/playground?schedule=%40daily&exclude=", "/?notice=", "/?n=1&notice=", "/" + url.PathEscape(all) + "?a=",
	} {
		paths = append(paths, field+q)
	}
	for _, path := range paths {
		w.checkHarmless(path, w.get(path))
	}
	for _, field := range []string{"name", "schedule", "timezone", "target_kind", "target_address", "payload", "labels", "description", "overlap_policy", "max_attempts", "json"} {
		w.checkHarmless("/new with "+field, w.send("/new", "name", "x", "schedule", "@daily", field, all))
	}
	for _, path := range []string{"/job/pause", "/job/trigger", "/job/delete", "/job/edit", "/run/retry", "/run/cancel", "/run/dismiss"} {
		w.checkHarmless(path, w.send(path, "name", all, "id", all, "reason", all, "payload", all))
	}
}

func (w *world) checkHarmless(what string, got answer) {
	w.t.Helper()
	if got.status >= 500 {
		w.t.Errorf("%.80s: %d", what, got.status)
	}
	if err := checkHTML(got.body); err != nil {
		w.t.Errorf("%.80s: %v", what, err)
	}
	for _, raw := range []string{"<script>alert", "<img src", "</textarea><b>", `href="javascript:`} {
		if strings.Contains(got.body, raw) {
			w.t.Errorf("%.80s has %s as it was typed", what, raw)
		}
	}
}
