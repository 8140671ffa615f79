package dashboard

import (
	"bytes"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// view is a page that has read what it shows.
type view struct {
	page   string // file name of its template, without the extension
	title  string
	active string // path of the entry of the navigation that it belongs to
	err    error  // shown above the content; its status is the answer's
	code   int    // status of the answer without an error; 0 is 200
	body   any
	live   []string // templates within the page that are live; each is an element whose id is its name
}

// frame is what a template gets: what is around each page, and the content of one.
type frame struct {
	Title, Active string
	Tenant        string
	Status        client.Status
	Alert         *client.Error
	Notice        string
	Live          string // address of the stream; "" for none
	Now           time.Time
	Body          any

	Style, Script, Bell string
}

// Link returns the address of a page for the same tenant.
func (f *frame) Link(path string, pairs ...string) string { return link(f.Tenant, path, pairs...) }

// IsDefault tells whether the tenant is the default one.
func (f *frame) IsDefault() bool { return f.Tenant == tenantDefault }

// IsOfAll tells whether the page lists runs of more than one job.
func (f *frame) IsOfAll() bool {
	body, ok := f.Body.(*runsBody)
	return ok && body.AllJobs
}

// When returns how an instant is written.
func (f *frame) When(t client.Time) instant { return instantOf(t, f.Now) }

// Age returns how long ago an instant was.
func (f *frame) Age(t client.Time) string {
	if t.IsZero() {
		return ""
	}
	return span(f.Now.Sub(t.Time))
}

// templates holds the templates of each page, by its name.
var templates = parseTemplates()

// parseTemplates reads the templates of the binary; one that is wrong is a fault of the build.
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

// failed is a page of nothing but an error.
func failed(err error) view { return view{page: "failed", title: "That did not work", err: err} }

// frame puts what is around each page around one.
func (v *visit) frame(p *view) *frame {
	f := &frame{
		Title: p.title, Active: p.active, Tenant: v.tenant, Now: v.now, Body: p.body,
		Alert: told(p.err), Notice: notices[v.query.Get("notice")],
		Style: styleAsset.path, Script: scriptAsset.path, Bell: bellAsset.path,
	}
	f.Notice = strings.Replace(f.Notice, "#", nameOrNumber(v.query.Get("n")), 1)
	if v.client != nil {
		f.Status, _ = v.client.Status(v.req.Context()) // a node that tells nothing has an empty status line
	}
	if len(p.live) > 0 && v.req.Method == http.MethodGet {
		f.Live = livePath + "?" + pageParam(v)
	}
	return f
}

// nameForm is what a notice may be about; no sentence can be made of it.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,128}$`)

// nameOrNumber returns what a notice is about, "?" if it is no name and no number.
func nameOrNumber(text string) string {
	if !nameForm.MatchString(text) {
		return "?"
	}
	return figure(text)
}

// told returns what a visitor is told of an error; nil of none.
func told(err error) *client.Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e
	}
	return refusal(client.CodeInternal, http.StatusInternalServerError, "internal error; the server's log has the details")
}

// render makes the text of a page.
func (v *visit) render(p *view) ([]byte, error) {
	var b bytes.Buffer
	err := templates[p.page].ExecuteTemplate(&b, "layout", v.frame(p))
	return b.Bytes(), err
}

// send answers with a page.
func (v *visit) send(rw http.ResponseWriter, p view) {
	e := told(p.err)
	if e != nil && e.Code == client.CodeInternal {
		v.dashboard.opts.Logger.Error("a page has an error", slog.String("path", v.path), slog.Any("error", p.err))
	}
	text, err := v.render(&p)
	if err != nil {
		v.dashboard.opts.Logger.Error("a page was not made", slog.String("path", v.path), slog.Any("error", err))
		http.Error(rw, "internal error; the server's log has the details", http.StatusInternalServerError)
		return
	}
	code := http.StatusOK
	switch {
	case e != nil && e.Status != 0:
		code = e.Status
	case p.code != 0:
		code = p.code
	}
	if code == http.StatusTooManyRequests || code == http.StatusServiceUnavailable {
		rw.Header().Set("Retry-After", "1")
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Content-Length", strconv.Itoa(len(text)))
	rw.WriteHeader(code)
	if v.req.Method != http.MethodHead {
		_, _ = rw.Write(text) // the caller has gone if this fails
	}
}
