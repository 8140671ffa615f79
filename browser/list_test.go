package browser

import (
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// names returns the jobs that a list shows.
func (p *person) names() string {
	p.t.Helper()
	text, err := Eval[string](p.tab, `[...document.querySelectorAll("#jobs tr[data-job]")].map(e => e.dataset.job).join(" ")`)
	p.must(err)
	return text
}

// TestSearch narrows the list of jobs by prefix, label and status.
func TestSearch(t *testing.T) {
	s := newStage(t)
	quiet := client.Target{Kind: "nats", Subject: "quiet"}
	red, blue := map[string]string{"team": "red"}, map[string]string{"team": "blue"}
	put(t, s,
		client.Job{Name: "a/1", Schedule: "@yearly", Target: quiet, Labels: red},
		client.Job{Name: "a/2", Schedule: "@yearly", Target: quiet, Labels: blue},
		client.Job{Name: "b/1", Schedule: "@yearly", Target: quiet, Labels: red},
		client.Job{Name: "b/2", Schedule: "@yearly", Target: quiet, Labels: blue, Paused: true})
	tests := map[string]struct{ prefix, label, status, want string }{
		"all":        {"", "", "", "a/1 a/2 b/1 b/2"},
		"by prefix":  {"a/", "", "", "a/1 a/2"},
		"by label":   {"", "team=red", "", "a/1 b/1"},
		"by both":    {"b/", "team=blue", "", "b/2"},
		"by status":  {"", "", "paused", "b/2"},
		"to nothing": {"nobody", "", "", ""},
	}
	p := visitor(t, s.URL)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p.t = t
			p.opens("/jobs")
			p.types("prefix", test.prefix)
			p.types("label", test.label)
			p.chooses("status", test.status)
			check := `location.search.includes("prefix=")`
			p.clicks("[data-action=search]")
			p.sees(check)
			p.sees(`document.readyState === "complete"`)
			if got := p.names(); got != test.want {
				t.Errorf("the list shows %q, want %q", got, test.want)
			}
		})
	}
}

// TestChosen finds jobs by text in their names and by a label that it clicks, chooses two of them and pauses both with one
// confirmation. The list, which is live, leaves alone what is chosen.
func TestChosen(t *testing.T) {
	s := newStage(t)
	quiet := client.Target{Kind: "nats", Subject: "quiet"}
	red := map[string]string{"team": "red"}
	put(t, s,
		client.Job{Name: "a/invoice/1", Schedule: "@yearly", Target: quiet, Labels: red},
		client.Job{Name: "b/invoice/2", Schedule: "@yearly", Target: quiet, Labels: red},
		client.Job{Name: "b/invoice/3", Schedule: "@yearly", Target: quiet},
		client.Job{Name: "c/other", Schedule: "@yearly", Target: quiet, Labels: red})
	p := visitor(t, s.URL)
	p.opens("/jobs")
	p.types("contains", "INVOICE")
	p.clicks("[data-action=search]")
	p.sees(`location.search.includes("contains=INVOICE") && document.readyState === "complete"`)
	p.clicks(`tr[data-job="a/invoice/1"] a.chip`)
	p.sees(`location.search.includes("label=team") && document.readyState === "complete"`)
	if got := p.names(); got != "a/invoice/1 b/invoice/2" {
		t.Errorf("the list shows %q, want the two invoices of the red team", got)
	}
	p.clicks(`tr[data-job="a/invoice/1"] input[name=job]`)
	p.clicks(`tr[data-job="b/invoice/2"] input[name=job]`)
	put(t, s, client.Job{Name: "a/invoice/0", Schedule: "@yearly", Target: quiet, Labels: red})
	p.asks("pause")
	p.confirms("pause")
	p.reads("[role=status]", "Jobs that are paused: 2.")
	if got := p.names(); got != "a/invoice/0 a/invoice/1 b/invoice/2" {
		t.Errorf("then it shows %q, want the same list and the job that came", got)
	}
	for name, want := range map[string]string{"a/invoice/0": "active", "a/invoice/1": "paused", "b/invoice/2": "paused", "c/other": "active"} {
		if j, err := s.Client.Get(t.Context(), name); err != nil || j.Status != want {
			t.Errorf("%s is %s (%v), want %s", name, j.Status, err, want)
		}
	}
}

// TestPages leafs through more jobs than a page shows.
func TestPages(t *testing.T) {
	s := newStage(t)
	put(t, s, statements()...)
	for _, j := range statements() {
		j.Name = "more/" + j.Name
		put(t, s, j)
	}
	p := visitor(t, s.URL)
	p.opens("/jobs")
	seen := map[string]bool{}
	for page := 0; len(seen) < 2*len(statements()); page++ {
		if page > 10 {
			t.Fatalf("%d pages show %d jobs", page, len(seen))
		}
		shown := strings.Fields(p.names())
		if len(shown) > 50 {
			t.Errorf("a page shows %d jobs", len(shown))
		}
		for _, name := range shown {
			if seen[name] {
				t.Errorf("%s is shown twice", name)
			}
			seen[name] = true
		}
		if len(seen) == 2*len(statements()) {
			break
		}
		before, err := Eval[string](p.tab, "location.search")
		p.must(err)
		p.clicks(`main a[href*="cursor="]`)
		p.sees("location.search !== " + quote(before) + ` && document.readyState === "complete"`)
	}
}

// TestPlayground asks when a schedule would fire in the night in which clocks spring forward.
func TestPlayground(t *testing.T) {
	s := newStage(t)
	p := visitor(t, s.URL)
	p.opens("/playground")
	p.types("schedule", "30 2 * * *")
	p.types("timezone", "America/New_York")
	p.sets("after", "2027-03-12T12:00")
	p.types("count", "3")
	p.clicks("[data-action=preview]")
	p.rows("#times li", 3)
	reply, err := s.Client.Next(t.Context(), client.NextRequest{
		Schedule: "30 2 * * *", Timezone: "America/New_York", Count: 3, After: mustTime(t, "2027-03-12T12:00:00Z"),
	})
	if err != nil || len(reply.Notes) == 0 {
		t.Fatalf("the API says %+v, %v; want a note", reply, err)
	}
	for _, note := range reply.Notes {
		p.reads("main", note)
	}
	p.types("schedule", "61 * * * *")
	p.tab.Pardon("status of 4")
	p.clicks("[data-action=preview]")
	p.reads("[role=alert]", "61")
	p.sees(`document.querySelector("[name=schedule]").value === "61 * * * *"`)
}

// TestPlaygroundExamples clicks every example: each shows times.
func TestPlaygroundExamples(t *testing.T) {
	s := newStage(t)
	p := visitor(t, s.URL)
	p.opens("/playground")
	const example = `main a[href^="/playground?"]`
	examples, err := Eval[[]string](p.tab, "[...document.querySelectorAll("+quote(example)+")].map(a => a.getAttribute('href'))")
	p.must(err)
	if len(examples) < 3 {
		t.Errorf("there are %d examples: %q", len(examples), examples)
	}
	for _, href := range examples {
		p.opens("/playground")
		p.clicks("main a[href=" + quote(href) + "]")
		p.rows("#times li", 1)
		p.sees("!" + shown("[role=alert]"))
	}
}

func mustTime(t *testing.T, text string) (at client.Time) {
	t.Helper()
	if err := at.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestMistakes types what is wrong into the form of a job: it is told where, and nothing typed is lost.
func TestMistakes(t *testing.T) {
	s := newStage(t)
	p := visitor(t, s.URL)
	p.tab.Pardon("status of 4")
	p.opens("/new")
	p.types("name", "mistake")
	p.types("schedule", "every now and then")
	p.chooses("target_kind", "nats")
	p.types("target_address", "some.where")
	p.types("description", "What was typed stays.")
	p.clicks("form:has([name=schedule]) [data-action=register]")
	p.reads("[role=alert]", "schedule")
	for name, want := range map[string]string{
		"name": "mistake", "schedule": "every now and then", "target_address": "some.where", "description": "What was typed stays.",
	} {
		p.sees("document.querySelector(" + quote(field(name)) + ").value === " + quote(want))
	}
	p.sees("document.querySelector(" + quote(field("schedule")) + `).ariaInvalid === "true"`)

	// Mended, it is taken.
	p.types("schedule", "@hourly")
	p.clicks("form:has([name=schedule]) [data-action=register]")
	p.sees(`location.pathname === "/job"`)
	p.reads("#status", "active")
}
