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

// watch records the faults of a tab.
type watch struct {
	origins []string // origins to which requests may go

	pardoned []string // texts of faults that the test provokes

	mu     sync.Mutex // guards the fields below; only the tab's goroutine uses the others
	faults []string
}

// faultsMax bounds the list, so that a broken page does not fill the memory.
const faultsMax = 100

// note records the fault in an event of the tab, if it is one. ctx is the tab's context.
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
		// The library delivers no event before this call returns, and the page waits for the answer to its
		// dialog, so another goroutine gives it.
		go func() { _, _ = chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{}) }()
	case *network.EventRequestWillBeSent:
		if !w.mayAsk(e.Request.URL) {
			w.add("request to another origin: %s", e.Request.URL)
		}
	}
}

// consoleFaults lists the kinds of console output that are faults.
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

// mayAsk reports whether a request goes to an allowed origin.
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

// pardon marks the faults that contain a text as provoked.
func (w *watch) pardon(text string) {
	w.pardoned = append(w.pardoned, text)
}

// list returns the faults that are not pardoned.
func (w *watch) list() []string {
	return slices.DeleteFunc(w.all(), func(fault string) bool {
		return slices.ContainsFunc(w.pardoned, func(text string) bool { return strings.Contains(fault, text) })
	})
}

// all returns all faults, including pardoned ones.
func (w *watch) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.faults)
}
