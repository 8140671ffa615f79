package browser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// The bounds of waiting.
const (
	stepTimeMax = 30 * time.Second      // for one action, or for one element to become visible
	lookEvery   = 20 * time.Millisecond // between two polls
)

// The locale and the timezone of the browser, so that pages have the same text on every machine.
const (
	readerZone   = "Europe/Berlin"
	readerLocale = "en-GB"
)

// View is the size and the kind of screen on which a page is shown.
type View struct {
	Width, Height int64 // in CSS pixels
	Phone         bool
	Dark          bool
}

// The views of a user at a desk and of a user with a phone.
var (
	Desk  = View{Width: 1280, Height: 800}
	Phone = View{Width: 360, Height: 740, Phone: true}
)

// Tab is one tab with its own profile. It is not safe for concurrent use.
type Tab struct {
	ctx   context.Context
	close context.CancelFunc
	watch *watch
}

// Tab opens an empty tab with the view [Desk]. Requests to other origins than the given ones are faults.
// The caller must close it.
func (c *Chromium) Tab(origins ...string) (*Tab, error) {
	t := &Tab{watch: &watch{origins: origins}}
	t.ctx, t.close = chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext(),
		chromedp.WithListener(func(event any) { t.watch.note(t.ctx, event) }))
	// The first call creates the tab, which ends with the context of that call, so the context has no timeout.
	err := chromedp.Do(t.ctx,
		command(network.Enable, network.EnableParams{}),
		command(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: readerZone}),
		command(emulation.SetLocaleOverride, emulation.SetLocaleOverrideParams{Locale: readerLocale}))
	if err == nil {
		err = t.Look(Desk)
	}
	if err != nil {
		t.close()
		return nil, fmt.Errorf("open a tab: %w", err)
	}
	return t, nil
}

// Close closes the tab and its profile.
func (t *Tab) Close() { t.close() }

// command returns the action for a command of the DevTools protocol whose result is ignored.
func command[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// do runs actions in the tab, within stepTimeMax.
func (t *Tab) do(actions ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeMax)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// Look changes the view, for the present page and later ones.
func (t *Tab) Look(v View) error {
	theme := "light"
	if v.Dark {
		theme = "dark"
	}
	return t.do(
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
			Width: v.Width, Height: v.Height, DeviceScaleFactor: 1, Mobile: v.Phone,
		}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		}}))
}

// SetZone sets the timezone of the browser for the pages of the tab.
func (t *Tab) SetZone(name string) error {
	return t.do(command(emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name}))
}

// WithoutScripts switches JavaScript off for the pages that are opened after it.
func (t *Tab) WithoutScripts() error {
	return t.do(command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
}

// Open loads a page and returns when it has loaded.
func (t *Tab) Open(url string) error {
	if err := t.do(chromedp.Navigate(url)); err != nil {
		return fmt.Errorf("open %s: %w", url, err)
	}
	return nil
}

// Eval evaluates a JavaScript expression in the page, even if the page's own scripts are off.
func Eval[T any](t *Tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeMax)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		return value, fmt.Errorf("evaluate %s: %w", expression, err)
	}
	return value, nil
}

// ErrUnseen reports that an element or a condition did not appear in time.
var ErrUnseen = errors.New("did not show")

// Await waits until a JavaScript expression is truthy. It ignores errors of a page that is being left.
func (t *Tab) Await(expression string) error {
	return t.until(expression, func() (bool, error) { return Eval[bool](t, "!!("+expression+")") })
}

// until polls look until it returns true; what names the condition in the error.
func (t *Tab) until(what string, look func() (bool, error)) error {
	var last error
	for end := time.Now().Add(stepTimeMax); time.Now().Before(end); {
		seen, err := look()
		if err == nil && seen {
			return nil
		}
		last = err
		select {
		case <-t.ctx.Done():
			return t.ctx.Err()
		case <-time.After(lookEvery):
		}
	}
	return errors.Join(fmt.Errorf("%s %w within %s", what, ErrUnseen, stepTimeMax), last)
}

// pictureHeightMax bounds the height of a picture, in CSS pixels; the end of a longer page is cut off.
const pictureHeightMax = 1400

// Picture returns the page as a PNG, from its top to its end or to pictureHeightMax.
func (t *Tab) Picture() ([]byte, error) {
	size, err := Eval[page.Viewport](t, "({width: innerWidth, height: document.documentElement.getBoundingClientRect().height})")
	if err != nil {
		return nil, err
	}
	size.Height, size.Scale = min(max(size.Height, 1), pictureHeightMax), 1
	ctx, cancel := context.WithTimeout(t.ctx, stepTimeMax)
	defer cancel()
	whole := true
	result, err := chromedp.Call(ctx, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: &size, CaptureBeyondViewport: &whole})
	return result.Data, err
}

// Faults returns the faults that the tab has recorded, oldest first, without pardoned ones.
func (t *Tab) Faults() []string { return t.watch.list() }

// Pardon removes from [Tab.Faults] those that contain a text, because the test provokes them.
func (t *Tab) Pardon(text string) { t.watch.pardon(text) }
