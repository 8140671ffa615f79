package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// chromium is the browser that all tests share.
var chromium *Chromium

func TestMain(m *testing.M) {
	var err error
	if chromium, err = Launch(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	chromium.Close()
	os.Exit(code)
}

// newStage opens a stage for one test.
func newStage(t *testing.T) *Stage {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "data"), "test", "v1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// listen hears what jobs send to a subject.
func listen(t *testing.T, s *Stage, subject string) <-chan *nats.Msg {
	t.Helper()
	heard := make(chan *nats.Msg, 1024)
	_, err := s.NATS.ChanSubscribe(subject, heard)
	if err == nil {
		err = s.NATS.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return heard
}

// person sits before a tab. What cannot be done or does not show ends the test.
type person struct {
	t   *testing.T
	tab *Tab
	url string
}

// visitor returns a person with an empty tab. When the test ends, nothing may have happened in it that must not.
func visitor(t *testing.T, url string, others ...string) *person {
	t.Helper()
	tab, err := chromium.Tab(append(others, url)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fault := range tab.Faults() {
			t.Error(fault)
		}
		tab.Close()
	})
	return &person{t, tab, url}
}

func (p *person) must(err error) {
	p.t.Helper()
	if err == nil {
		return
	}
	text, _ := Eval[string](p.tab, `location.href + "\n" + document.body.innerText.slice(0, 3000)`)
	p.t.Fatalf("%v\nThe page is %s", err, text)
}

func (p *person) opens(path string) {
	p.t.Helper()
	p.must(p.tab.Open(p.url + path))
}

func (p *person) clicks(selector string) {
	p.t.Helper()
	p.must(p.tab.Click(selector))
}

// types fills the field of a name.
func (p *person) types(name, text string) {
	p.t.Helper()
	p.must(p.tab.Fill(field(name), text))
}

func (p *person) chooses(name, value string) {
	p.t.Helper()
	p.must(p.tab.Choose(field(name), value))
}

// sets gives a field that is no text, such as a time, a value in the form that it has in HTML.
func (p *person) sets(name, value string) {
	p.t.Helper()
	p.sees(fmt.Sprintf("(e => e.value === %[2]s || (e.value = %[2]s) && false)(document.querySelector(%[1]s))", quote(field(name)), quote(value)))
}

func (p *person) presses(keys string) {
	p.t.Helper()
	p.must(p.tab.Press(keys))
}

// field selects the field of a name in the form that is filled in by fields.
func field(name string) string {
	return "main :is(input, select, textarea)[name=" + name + "]:not([type=hidden])"
}

// asks opens the confirmation of an action.
func (p *person) asks(action string) {
	p.t.Helper()
	p.clicks("[data-confirm=" + action + "]")
	p.sees(shown("details[open] [data-action=" + action + "]"))
}

// confirms does what has been asked for, and waits for the page that tells what came of it.
func (p *person) confirms(action string) {
	p.t.Helper()
	_, err := Eval[bool](p.tab, "window.asked = true")
	p.must(err)
	p.clicks("details[open] [data-action=" + action + "]")
	p.sees("!window.asked && (" + shown("[role=status]") + " || " + shown("[role=alert]") + ")")
}

// sees waits until a condition holds, written in JavaScript.
func (p *person) sees(condition string) {
	p.t.Helper()
	p.must(p.tab.Await(condition))
}

// reads waits for a text in the first element of a selector.
func (p *person) reads(selector, text string) {
	p.t.Helper()
	p.sees(fmt.Sprintf("document.querySelector(%s)?.innerText.includes(%s)", quote(selector), quote(text)))
}

// rows waits until a table has at least so many rows.
func (p *person) rows(selector string, atLeast int) {
	p.t.Helper()
	p.sees(fmt.Sprintf("%s >= %d", count(selector), atLeast))
}

// stays puts a mark on the page; the function that it returns checks that it is still the same page, so
// that whatever has changed since came by itself.
func (p *person) stays() (check func()) {
	p.t.Helper()
	_, err := Eval[bool](p.tab, "window.mark = true")
	p.must(err)
	return func() {
		p.t.Helper()
		p.sees("window.mark")
	}
}

// inspects looks for something that must not be there.
func (p *person) inspects(e Eye) {
	p.t.Helper()
	found, err := p.tab.Inspect(e)
	p.must(err)
	if len(found) > 0 {
		p.t.Errorf("%s:\n\t%s", e, strings.Join(found, "\n\t"))
	}
}

// shown tells whether an element of a selector can be seen.
func shown(selector string) string {
	return "[...document.querySelectorAll(" + quote(selector) + ")].some(e => e.checkVisibility({visibilityProperty: true}))"
}

// count counts the elements of a selector.
func count(selector string) string {
	return "document.querySelectorAll(" + quote(selector) + ").length"
}
