package browser

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// watch writes down what must not happen in a tab.
type watch struct {
	origins []string // that may be asked

	pardoned []string // parts of faults that are meant to happen

	mu     sync.Mutex // guards what follows; the rest is the tab's
	faults []string
}

// faultsMax bounds the list: one broken page need not fill the memory.
const faultsMax = 100

// note looks at one event of the tab whose context is ctx.
func (w *watch) note(ctx context.Context, event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		w.add("exception: %s %s", e.ExceptionDetails.Text, consoleText([]*runtime.RemoteObject{e.ExceptionDetails.Exception}))
	case *runtime.EventConsoleAPICalled:
		if slices.Contains(consoleFaults, e.Type) {
			w.add("console: %s %s", e.Type, consoleText(e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			w.add("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		w.add("dialog: %s", e.Message)
		// The events wait for this call to return, and the page for an answer to the dialog.
		go func() { _, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{}) }()
	case *network.EventRequestWillBeSent:
		if !w.mayAsk(e.Request.URL) {
			w.add("request to another origin: %s", e.Request.URL)
		}
	}
}

// consoleFaults are the kinds of output that mean that something is wrong.
var consoleFaults = []runtime.ConsoleAPICalledType{
	runtime.ConsoleAPICalledTypeError, runtime.ConsoleAPICalledTypeWarning, runtime.ConsoleAPICalledTypeAssert,
}

func consoleText(args []*runtime.RemoteObject) string {
	var text []string
	for _, a := range args {
		if a != nil {
			text = append(text, string(a.Value)+a.Description)
		}
	}
	return strings.Join(text, " ")
}

// mayAsk tells whether a request stays where it may.
func (w *watch) mayAsk(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if u.Scheme == "data" || u.Scheme == "about" || u.Scheme == "blob" {
		return true
	}
	return slices.Contains(w.origins, u.Scheme+"://"+u.Host)
}

func (w *watch) add(format string, values ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fault := fmt.Sprintf(format, values...)
	if len(w.faults) < faultsMax {
		w.faults = append(w.faults, fault)
	}
}

// pardon takes faults that have a text in them for what they are: meant to happen.
func (w *watch) pardon(text string) {
	w.pardoned = append(w.pardoned, text)
}

// list returns the faults that nobody has pardoned.
func (w *watch) list() []string {
	return slices.DeleteFunc(w.all(), func(fault string) bool {
		return slices.ContainsFunc(w.pardoned, func(text string) bool { return strings.Contains(fault, text) })
	})
}

// all returns all faults.
func (w *watch) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.faults)
}
