package browser

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// quote returns a text as a JavaScript string. It does not use JSON's escapes for HTML, because they
// would mean something else in a CSS selector.
func quote(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // a string always has a JSON form
	}
	return strings.TrimSpace(b.String())
}

// spot is the point at which an element is clicked: the middle of its visible part.
type spot struct {
	X, Y  float64
	Cover string // the element that covers it; "" if none does
}

// spotScript finds the first visible element of a selector and scrolls it into view. It returns null if
// there is none.
const spotScript = `(selector => {
	const seen = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0;
	const e = [...document.querySelectorAll(selector)].find(seen);
	if (!e) return null;
	e.scrollIntoView({block: "center", behavior: "instant"});
	const r = e.getClientRects()[0], x = r.x + r.width / 2, y = r.y + r.height / 2;
	const top = document.elementFromPoint(x, y);
	return {X: x, Y: y, Cover: !top ? "the edge" : e.contains(top) || top.contains(e) ? "" : top.outerHTML.slice(0, 200)};
})`

// Click clicks the first visible element of a CSS selector, as soon as one is visible.
func (t *Tab) Click(selector string) error {
	s, err := t.find(selector)
	if err == nil {
		err = t.do(chromedp.MouseClickXY(s.X, s.Y))
	}
	if err != nil {
		return fmt.Errorf("click %s: %w", selector, err)
	}
	return nil
}

// find waits until an element is visible and no other covers it.
func (t *Tab) find(selector string) (place spot, err error) {
	err = t.until("it", func() (bool, error) {
		s, err := Eval[*spot](t, spotScript+"("+quote(selector)+")")
		if err != nil || s == nil {
			return false, err
		}
		if place = *s; s.Cover != "" {
			return false, fmt.Errorf("it is covered by %s", s.Cover)
		}
		return true, nil
	})
	return place, err
}

// Fill clicks a field and replaces its content by typing a text.
func (t *Tab) Fill(selector, text string) error {
	if err := t.Click(selector); err != nil {
		return err
	}
	if err := t.Await("document.activeElement.matches(" + quote(selector) + ")"); err != nil {
		return err
	}
	if _, err := Eval[chromedp.Void](t, "document.activeElement.select()"); err != nil {
		return err
	}
	if text == "" {
		return t.Press("\b")
	}
	return t.do(command(input.InsertText, input.InsertTextParams{Text: text}))
}

// Choose selects an option of a list by its value. It does not use the mouse, because a browser without
// a window does not draw the open list.
func (t *Tab) Choose(selector, value string) error {
	done, err := Eval[bool](t, `((selector, value) => {
		const list = document.querySelector(selector);
		if (!list || ![...list.options].some(o => o.value === value)) return false;
		list.value = value;
		list.dispatchEvent(new Event("input", {bubbles: true}));
		list.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	})(`+quote(selector)+`, `+quote(value)+`)`)
	if err == nil && !done {
		err = fmt.Errorf("choose: %s has no option %q", selector, value)
	}
	return err
}

// Press presses keys, one after the other.
func (t *Tab) Press(keys string) error { return t.do(chromedp.KeyEvent(keys)) }
