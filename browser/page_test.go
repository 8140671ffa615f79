package browser

import (
	"net/url"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// everyPage returns the path of each page of a furnished stage, by what it is called. It waits until there
// is a dead run to show.
func everyPage(t *testing.T, s *Stage) map[string]string {
	t.Helper()
	pages, err := s.Pages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pages["unknown"] = "/no/such/page"
	pages["unknown-job"] = "/job?name=no/such/job"
	return pages
}

// TestEveryPage looks at every page in light and in dark, on a desk and on a narrow phone.
func TestEveryPage(t *testing.T) {
	s := newStage(t)
	if err := s.Furnish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, path := range everyPage(t, s) {
		t.Run(name, func(t *testing.T) {
			p := visitor(t, s.URL)
			p.tab.Pardon("status of 404")
			for _, dark := range []bool{false, true} {
				for _, view := range []View{Desk, Phone} {
					view.Dark = dark
					p.must(p.tab.Look(view))
					p.opens(path)
					p.inspects(EyeOrder)
					p.inspects(EyeContrast)
					p.inspects(EyeOverflow)
					p.unfolds()
					p.inspects(EyeContrast)
					p.inspects(EyeOverflow)
				}
			}
		})
	}
}

// unfolds opens whatever a page keeps folded.
func (p *person) unfolds() {
	p.t.Helper()
	_, err := Eval[int](p.tab, `[...document.querySelectorAll("details")].filter(e => e.open = true).length`)
	p.must(err)
}

// TestSmuggledMarkup writes markup wherever a person or a target can write, and looks at every page: it is
// text everywhere.
func TestSmuggledMarkup(t *testing.T) {
	const script, image = `<script>window.pwned = 1</script>`, `"><img src=x onerror="window.pwned = 2">`
	s := newStage(t)
	mallory, err := client.New(s.NATS, client.Options{By: image})
	if err != nil {
		t.Fatal(err)
	}
	j := breakable(s, "smuggled")
	j.Description = script + image
	j.Labels = map[string]string{"note": image}
	j.Headers = map[string]string{"X-Note": image}
	j.Payload = []byte(`{"note": "</textarea><script>window.pwned = 3</script>"}`)
	if _, _, err := mallory.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if _, err := mallory.Trigger(t.Context(), client.TriggerRequest{Name: j.Name}); err != nil {
		t.Fatal(err)
	}
	if _, err := mallory.Pause(t.Context(), j.Name, script+image); err != nil {
		t.Fatal(err)
	}
	p := visitor(t, s.URL)
	p.tab.Pardon("status of 4")
	p.opens("/job?name=smuggled")
	p.rows("#runs tr[data-status=dead]", 1)
	p.reads("main", script+image)
	id, evil := manualRun(t, s, j.Name), url.QueryEscape(script+image)
	for _, path := range []string{
		"/", "/jobs", "/job?name=smuggled", "/job/edit?name=smuggled", "/runs?job=smuggled", "/runs?status=dead", "/run?id=" + id, "/audit",
		"/jobs?prefix=" + evil, "/jobs?label=" + evil, "/jobs?status=" + evil, "/jobs?cursor=" + evil, "/job?name=" + evil, "/run?id=" + evil,
		"/runs?job=" + evil, "/runs?status=dead&from=" + evil, "/audit?by=" + evil, "/audit?name=" + evil, "/audit?action=" + evil,
		"/playground?schedule=" + evil + "&timezone=" + evil, "/new?name=" + evil, "/?tenant=" + evil, "/" + url.PathEscape(script+image),
	} {
		p.opens(path)
		p.inspects(EyeSmuggled)
	}
}
