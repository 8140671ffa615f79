package browser

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/carillon-io/carillon/client"
)

// tabsMax bounds how often somebody presses Tab before he gives up.
const tabsMax = 80

// reaches presses Tab until the focus is on an element, and sees all the way where it is.
func (p *person) reaches(selector string) {
	p.t.Helper()
	for range tabsMax {
		p.presses(kb.Tab)
		p.inspects(EyeUnfocused)
		there, err := Eval[bool](p.tab, "document.activeElement.matches("+quote(selector)+")")
		p.must(err)
		if there {
			return
		}
	}
	p.must(ErrUnseen)
	p.t.Fatalf("%s is not reached by %d times Tab", selector, tabsMax)
}

// TestKeyboard registers, pauses and looks around without touching the mouse.
func TestKeyboard(t *testing.T) {
	s := newStage(t)
	p := visitor(t, s.URL)

	// The first Tab offers to skip what is on every page.
	p.opens("/")
	p.presses(kb.Tab)
	p.inspects(EyeUnfocused)
	p.presses(kb.Enter)
	p.sees(`location.hash && document.querySelector("main").matches(location.hash)`)

	// A job is registered by keys alone; Enter in a field sends the form.
	p.opens("/")
	p.reaches(`nav a[href^="/jobs"]`)
	p.presses(kb.Enter)
	p.sees(`location.pathname === "/jobs"`)
	p.reaches(`a[href^="/new"]`)
	p.presses(kb.Enter)
	p.sees(`location.pathname === "/new"`)
	p.reaches(field("name"))
	p.presses("keys")
	p.reaches(field("schedule"))
	p.presses("@hourly")
	p.reaches(field("target_address"))
	p.presses("keys.pressed")
	p.presses(kb.Enter)
	p.sees(`location.pathname === "/job"`)
	p.reads("#status", "active")

	// It is paused: Enter opens the confirmation, Tab goes on into it.
	p.reaches("[data-confirm=pause]")
	p.presses(kb.Enter)
	p.sees(shown("details[open] [data-action=pause]"))
	p.reaches("details[open] [name=reason]")
	p.presses("no mouse")
	p.reaches("details[open] [data-action=pause]")
	p.presses(kb.Enter)
	p.reads("#status", "paused")
	p.reads("main", "no mouse")
}

// TestWithoutScripts does the same work where JavaScript is off.
func TestWithoutScripts(t *testing.T) {
	s := newStage(t)
	heard := listen(t, s, "plain.forms")
	p := visitor(t, s.URL)
	p.must(p.tab.WithoutScripts())
	p.opens("/new")
	p.types("name", "plain/forms")
	p.types("schedule", "@yearly")
	p.chooses("target_kind", "nats")
	p.types("target_address", "plain.forms")
	p.clicks("form:has([name=schedule]) [data-action=register]")
	p.sees(`location.pathname === "/job"`)
	p.reads("#status", "active")
	p.asks("trigger")
	p.confirms("trigger")
	<-heard
	p.opens("/job?name=plain/forms")
	p.rows("#runs tr[data-run]", 1)
	p.asks("pause")
	p.types("reason", "by hand")
	p.confirms("pause")
	p.reads("#status", "paused")
	p.asks("resume")
	p.confirms("resume")
	p.reads("#status", "active")
	p.opens("/playground?schedule=@daily&count=4")
	p.rows("#times li", 4)
	p.opens("/audit")
	p.rows("#audit tr", 4)
	p.opens("/job?name=plain/forms")
	p.asks("delete")
	p.confirms("delete")
	if _, err := s.Client.Get(t.Context(), "plain/forms"); !client.IsNotFound(err) {
		t.Errorf("the job is still there, or: %v", err)
	}
}
