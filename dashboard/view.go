package dashboard

import (
	"bytes"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carillon-io/carillon/client"
)

// view is a page with the data that it shows, ready to be rendered. It is a value and has no reference to the
// request, so a stream can make and compare it as often as it needs.
type view struct {
	page   string // file name of its template, without the extension
	title  string
	active string // path of its entry in the navigation
	err    error  // shown above the content; it also determines the status of the answer
	code   int    // status of the answer without an error; 0 is 200
	// body is the content; its type is that of the page's file.
	body any
	live []string // names of the live templates within the page; each renders an element with its name as id
}

// frame is the data of a template: the content of the page, and what surrounds every page. Templates see its fields
// and methods, and nothing else of the package.
type frame struct {
	Title, Active string
	Tenant        string
	Status        client.Status
	// Alert is nil if all could be read and done.
	Alert *client.Error
	// Notice says what the action has done that led to this page; "" without one.
	Notice string
	Live   string // address of the stream; "" if the page has none
	Reader reader
	Now    time.Time
	Body   any
	// Concerns is what needs attention, the worst first.
	Concerns []concern

	Style, Script, Bell string

	// Insecurity is Options.Insecurity.
	Insecurity string

	// ZoneChoice is what the reader has chosen for times, and Here the address of the page, for the form that chooses.
	ZoneChoice, Here string
	clock            clock
	named            func(zone string) clock
}

// Link returns the address of another page for the same tenant. pairs are query parameters: names and
// values in turn.
func (f *frame) Link(path string, pairs ...string) string { return link(f.Tenant, path, pairs...) }

// IsDefault reports whether the tenant is the default one.
func (f *frame) IsDefault() bool { return f.Tenant == tenantDefault }

// May reports whether the reader may use a verb in the tenant of the page. What they may not do is not offered.
func (f *frame) May(verb string) bool { return f.Reader.may(verb, f.Tenant) }

// IsShared reports whether the figures of the node may be of more tenants than that of the page.
func (f *frame) IsShared() bool { return !f.IsDefault() || f.Reader.Name != "" }

// MayChange reports whether the reader may do something with jobs that are chosen in their list.
func (f *frame) MayChange() bool {
	return slices.ContainsFunc([]string{"jobs.pause", "jobs.resume", "jobs.trigger", "jobs.delete"}, f.May)
}

// IsOfAll reports whether the page lists runs of more than one job.
func (f *frame) IsOfAll() bool {
	body, ok := f.Body.(*runsBody)
	return ok && body.AllJobs
}

// When returns the texts for an instant.
func (f *frame) When(t client.Time) instant { return instantOf(t, f.clock, f.Now) }

// WhenOf returns the texts for an instant of one job among many, which has a zone of its own if the reader has chosen that
// of the job.
func (f *frame) WhenOf(j *client.JobInfo, t client.Time) instant {
	if f.ZoneChoice != zoneJob {
		return f.When(t)
	}
	return instantOf(t, f.named(zoneOf(j.Timezone, j.Schedule)), f.Now)
}

// HasOwnZone reports whether the reader has chosen a zone by its name.
func (f *frame) HasOwnZone() bool {
	return f.ZoneChoice != zoneJob && f.ZoneChoice != zoneUTC && f.clock.name == f.ZoneChoice
}

// Document returns the address of a document of this release, or of all for "". The binary does not have them; the text around
// a link says what a reader without access to it may look for.
func (f *frame) Document(name string) string { return documentOf(f.Status.Version, name) }

// Zone returns the name of the zone in which the page shows times, and expects those that are typed.
func (f *frame) Zone() string { return f.clock.name }

// Age returns the text of how long ago an instant was. It is "" for none.
func (f *frame) Age(t client.Time) string {
	if t.IsZero() {
		return ""
	}
	return span(f.Now.Sub(t.Time))
}

// templates holds the templates of each page, by its name. Each page has its own set, so that two pages may use the
// same name for a part. They are parsed once, for the first dashboard of the process: the commands of the program, which show no
// page, start without.
var templates = sync.OnceValue(parseTemplates)

// parseTemplates parses the templates embedded in the binary. It panics if one is invalid, because the build is then
// wrong.
func parseTemplates() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(functions).ParseFS(files, "pages/layout.html", "pages/parts.html"))
	names, err := files.ReadDir("pages")
	if err != nil {
		panic(err)
	}
	all := make(map[string]*template.Template, len(names))
	for _, file := range names {
		name := strings.TrimSuffix(file.Name(), path.Ext(file.Name()))
		if name == "layout" || name == "parts" {
			continue
		}
		all[name] = template.Must(template.Must(shared.Clone()).ParseFS(files, "pages/"+file.Name()))
	}
	return all
}

// failed returns a page that shows only an error.
func failed(err error) view { return view{page: "failed", title: "The request failed", err: err} }

// frame returns the data for rendering a page. Only a page that was asked for with GET has a stream: the address of an
// action is no page; and only if its reader may have one. It asks for the status at each rendering, because the line at
// the top of each page shows the node.
func (v *visit) frame(p *view) *frame {
	f := &frame{
		Title: p.title, Active: p.active, Tenant: v.tenant, Reader: v.reader, Now: v.now, Body: p.body,
		Alert: publicError(p.err), Notice: notices[v.query.Get("notice")],
		Insecurity: v.dashboard.opts.Insecurity,
		Style:      styleAsset.path, Script: scriptAsset.path, Bell: bellAsset.path,
		ZoneChoice: zoneChoice(v.req), Here: v.here(), clock: v.clockFor(p.body),
	}
	f.named = func(zone string) clock {
		c, _ := v.dashboard.clockNamed(zone)
		return c
	}
	f.Notice = strings.Replace(f.Notice, "#", nameOrNumber(v.query.Get("n")), 1)
	// Who signs in, or reads about the API, may not know more of the node than that it is there.
	if v.client != nil && v.path != signInPath && v.reader.isKnown() {
		f.Status, _ = v.client.Status(v.req.Context()) // after an error the status line is empty
		f.Concerns = v.concerns(&f.Status)
	}
	if len(p.live) > 0 && v.req.Method == http.MethodGet && v.reader.hasRole(v.tenant) {
		f.Live = livePath + "?" + pageParam(v)
	}
	return f
}

// nameForm matches the values of the parameter n that a notice may show. It has no spaces, so that a link cannot make
// the page show a sentence of its author. It is the grammar of the names of jobs.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,128}$`)

// nameOrNumber returns the text if it is a name or a number, "?" otherwise.
func nameOrNumber(text string) string {
	if !nameForm.MatchString(text) {
		return "?"
	}
	return figure(text)
}

// publicError returns the error to show to a visitor: an error of the API as it is, any other as an internal error
// without details. It returns nil for nil. It does not log; send does.
func publicError(err error) *client.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e
	}
	return refusal(client.CodeInternal, http.StatusInternalServerError, "internal error; the server's log has the details")
}

// render returns the HTML of a page.
func (v *visit) render(p *view) ([]byte, error) {
	var b bytes.Buffer
	err := templates()[p.page].ExecuteTemplate(&b, "layout", v.frame(p))
	return b.Bytes(), err
}

// send answers with a page. The page is rendered completely before the first byte is sent, so that a failing template
// gives an error and not half a page.
func (v *visit) send(rw http.ResponseWriter, p view) {
	e := publicError(p.err)
	if e != nil && e.Code == client.CodeInternal {
		v.dashboard.opts.Logger.Error("a page shows an internal error", slog.String("path", v.path), slog.Any("error", p.err))
	}
	text, err := v.render(&p)
	if err != nil {
		v.dashboard.opts.Logger.Error("a page could not be rendered", slog.String("path", v.path), slog.Any("error", err))
		http.Error(rw, "internal error; the server's log has the details", http.StatusInternalServerError)
		return
	}
	// The page of an error has the error's status, so that a program that asks for a page is not misled.
	code := http.StatusOK
	switch {
	case e != nil && e.Status != 0:
		code = e.Status
	case p.code != 0:
		code = p.code
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Content-Length", strconv.Itoa(len(text)))
	rw.WriteHeader(code)
	if v.req.Method != http.MethodHead {
		_, _ = rw.Write(text) // fails only if the browser has disconnected
	}
}
