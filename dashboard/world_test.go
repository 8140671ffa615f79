package dashboard_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// world is a whole server, someone with a browser that has no JavaScript, and someone else with NATS.
type world struct {
	t      testing.TB
	server *server.Server
	base   string
	http   *http.Client
	client *client.Client
}

func newWorld(t testing.TB) *world {
	t.Helper()
	s, err := server.Start(t.Context(), server.Options{
		Dir: t.TempDir(), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), Version: "v9.9.9",
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, server: s, base: s.Ready().HTTP}
	w.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	nc, err := nats.Connect(s.Ready().NATS)
	if err != nil {
		t.Fatal(err)
	}
	if w.client, err = client.New(nc, client.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		nc.Close()
		_ = s.Close(context.Background())
	})
	return w
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (w *world) do(req *http.Request) answer {
	w.t.Helper()
	got := testkit.Do(w.t, w.http, req)
	return answer{got.Status, got.Header, got.Body}
}

// get opens a page.
func (w *world) get(path string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), "GET", w.base+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	return w.do(req)
}

// send sends a form. Fields are pairs of a name and a value.
func (w *world) send(path string, fields ...string) answer {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(w.t.Context(), "POST", w.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Origin", w.base)
	req.Header.Set("Carillon-By", "alice")
	return w.do(req)
}

// done sends a form that must work, and follows to the page that says so.
func (w *world) done(path, notice string, fields ...string) answer {
	w.t.Helper()
	sent := w.send(path, fields...)
	if sent.status != http.StatusSeeOther {
		w.t.Fatalf("%s: %d %s", path, sent.status, alertOf(sent.body))
	}
	next := w.get(sent.header.Get("Location"))
	if next.status != http.StatusOK || !strings.Contains(next.body, `role="status">`+notice) {
		w.t.Errorf("%s led to %s: %d without %q", path, sent.header.Get("Location"), next.status, notice)
	}
	return next
}

// alertOf returns what a page says that is wrong.
func alertOf(page string) string {
	_, rest, _ := strings.Cut(page, `role="alert">`)
	text, _, _ := strings.Cut(rest, "</div>")
	return text
}

// put registers a job over NATS.
func (w *world) put(j client.Job) client.JobInfo {
	w.t.Helper()
	if j.Schedule == "" && len(j.Schedules) == 0 {
		j.Schedule = "@yearly"
	}
	if j.Target.Kind == "" {
		j.Target = client.Target{Kind: "nats", Subject: "out." + strings.ReplaceAll(j.Name, "/", ".")}
	}
	info, _, err := w.client.Put(w.t.Context(), j)
	if err != nil {
		w.t.Fatal(err)
	}
	return info
}

// dead makes a run of a job that is dead, and returns it.
func (w *world) dead(name string) client.Run {
	w.t.Helper()
	w.put(client.Job{Name: name, Target: client.Target{Kind: "request", Subject: "nobody." + name}, Retry: client.Retry{MaxAttempts: 1}})
	run, err := w.client.Trigger(w.t.Context(), client.TriggerRequest{Name: name})
	if err != nil {
		w.t.Fatal(err)
	}
	testkit.Until(w.t, "the run is dead", func() bool {
		run, err = w.client.Run(w.t.Context(), run.RunID)
		return err == nil && run.Status == "dead"
	})
	testkit.Until(w.t, "the figures count the run", func() bool {
		status, err := w.client.Status(w.t.Context())
		return err == nil && status.Dead > 0
	})
	return run
}

// voids are the elements of HTML that have no end.
var voids = []string{"meta", "link", "input", "br"}

// checkHTML reads a page as a browser would have to, and tells what is wrong with its structure.
func checkHTML(page string) error {
	// A field keeps the control characters that were typed. Browsers take them, and this reader does not.
	page = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return ' '
		}
		return r
	}, page)
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.Entity = false, xml.HTMLEntity
	var open []string
	ids, counts := make(map[string]bool), make(map[string]int)
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.StartElement:
			counts[token.Name.Local]++
			for _, a := range token.Attr {
				if a.Name.Local == "id" && ids[a.Value] {
					return errors.New("two elements have the id " + a.Value)
				}
				ids[a.Value] = ids[a.Value] || a.Name.Local == "id"
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
					return errors.New("the policy forbids the attribute " + a.Name.Local)
				}
			}
			if !slices.Contains(voids, token.Name.Local) {
				open = append(open, token.Name.Local)
			}
		case xml.EndElement:
			if slices.Contains(voids, token.Name.Local) {
				continue
			}
			if len(open) == 0 || open[len(open)-1] != token.Name.Local {
				return errors.New("</" + token.Name.Local + "> ends nothing; open are " + strings.Join(open, " "))
			}
			open = open[:len(open)-1]
		}
	}
	switch {
	case len(open) > 0:
		return errors.New("no end of " + strings.Join(open, " "))
	case counts["main"] != 1 || counts["h1"] != 1 || counts["nav"] != 1 || counts["script"] != 1:
		return errors.New("a page has one main, one h1, one nav and one script")
	}
	return nil
}
