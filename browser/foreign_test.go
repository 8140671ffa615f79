package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestForeignPage opens a page of another origin that tries what it can to change a job. The reader is on
// the machine where the dashboard is, so every request arrives.
func TestForeignPage(t *testing.T) {
	s := newStage(t)
	heard := listen(t, s, "victim")
	put(t, s, client.Job{Name: "victim", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "victim"}})
	before := audit(t, s)

	actions := map[string]string{
		"/job/delete": "name=victim", "/job/trigger": "name=victim", "/job/pause": "name=victim&reason=x",
		"/new": "name=planted&schedule=@daily&target_kind=nats&target_address=x", "/runs/retry": "",
		"/api/v1/jobs/victim/trigger": "", "/api/v1/jobs/victim/pause": "",
	}
	foreign := serve(t, "", "<!doctype html><link rel=icon href=data:,><main>"+forms(s.URL, actions)+"</main>")
	p := visitor(t, foreign.URL, s.URL)
	for _, expected := range []string{"status of 4", "CORS policy", "net::ERR_FAILED", "frame-ancestors", "X-Frame-Options"} {
		p.tab.Pardon(expected)
	}
	for path := range actions { // each form leads away from the page
		p.opens("/")
		p.clicks("form[action=" + quote(s.URL+path) + "] button")
		p.sees("location.origin === " + quote(s.URL) + ` && document.readyState === "complete"`)
	}
	p.opens("/")
	for path, body := range actions {
		p.fetches("POST", s.URL+path, "no-cors", "application/x-www-form-urlencoded", body)
		p.fetches("POST", s.URL+path, "no-cors", "text/plain", "{}")
		p.fetches("POST", s.URL+path, "cors", "application/json", "{}")
	}
	p.fetches("DELETE", s.URL+"/api/v1/jobs/victim", "cors", "application/json", "")
	p.fetches("PUT", s.URL+"/api/v1/jobs/victim", "cors", "application/json", `{"schedule":"@daily","target":{"kind":"nats","subject":"x"}}`)
	if _, err := Eval[bool](p.tab, `new Promise(done => {
		const frame = document.createElement("iframe");
		frame.onload = () => done(true);
		frame.src = `+quote(s.URL+"/job?name=victim")+`;
		document.body.append(frame);
	})`); err != nil {
		t.Fatal(err)
	}
	if framed := strings.Join(p.tab.watch.all(), "\n"); !strings.Contains(framed, "frame-ancestors") && !strings.Contains(framed, "X-Frame-Options") {
		t.Error("the dashboard lets itself be framed by another origin")
	}

	if after := audit(t, s); after != before {
		t.Errorf("the audit log was %q and is %q", before, after)
	}
	if n := len(heard); n > 0 {
		t.Errorf("the job was run %d times", n)
	}
	j, err := s.Client.Get(t.Context(), "victim")
	if err != nil || j.Version != 1 || j.Status != "active" {
		t.Errorf("the job is %+v, %v", j, err)
	}
}

// forms writes a form for each action.
func forms(origin string, actions map[string]string) string {
	var b strings.Builder
	for path, body := range actions {
		fmt.Fprintf(&b, `<form method=post action="%s%s">`, origin, path)
		for pair := range strings.SplitSeq(body, "&") {
			name, value, _ := strings.Cut(pair, "=")
			fmt.Fprintf(&b, `<input type=hidden name="%s" value="%s">`, name, value)
		}
		b.WriteString("<button>Win a prize</button></form>\n")
	}
	return b.String()
}

// fetches lets a script of the page ask, whatever comes of it. A browser may refuse to send it at all.
func (p *person) fetches(method, url, mode, kind, body string) {
	p.t.Helper()
	content := "undefined"
	if body != "" {
		content = quote(body)
	}
	_, err := Eval[string](p.tab, fmt.Sprintf(`fetch(%s, {method: %q, mode: %q, credentials: "include", headers: {"Content-Type": %q}, body: %s}).then(r => r.type, String)`,
		quote(url), method, mode, kind, content))
	p.must(err)
}

// audit returns the audit log as a text.
func audit(t *testing.T, s *Stage) string {
	t.Helper()
	page, err := s.Client.ListAudit(t.Context(), client.AuditRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, e := range page.Entries {
		lines = append(lines, e.Action+" "+e.Name+" from "+e.From)
	}
	return strings.Join(lines, "\n")
}
