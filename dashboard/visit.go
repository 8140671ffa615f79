package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// formBytesMax bounds the body of a form, in bytes. A job with the largest payload fits, although the
// encoding of forms makes three bytes of each special character.
const formBytesMax = 2 << 20

// tenantDefault is the tenant of a visit that names none, unless its reader may see others alone.
const tenantDefault = "default"

// visit is one request for a page or an action, or one poll of a page's stream. It reads and changes data only
// through its client, so that the pages have the same checks, rights and audit entries as the API. It belongs to the
// goroutine of its request. now is read once, so that all times of a page are relative to the same instant.
type visit struct {
	dashboard *Dashboard
	req       *http.Request
	path      string     // path of the page; for a stream this differs from the path of the request
	query     url.Values // query of the page
	form      url.Values // values of the body of an action
	// tenant is the parameter of the same name in the address, of a page and of an action.
	tenant string
	reader reader
	// by is "" if no proxy names the visitor; the audit log then has only the origin.
	by string
	// client is nil if err is not.
	client *client.Client
	now    time.Time
	err    error // why the visit has no client; nil if it has
	// cookie is set with the answer to an action; nil sets none.
	cookie *http.Cookie
}

// visit returns the visit of a request. It never fails: a tenant that is none leaves the visit with err, which open
// shows.
func (d *Dashboard) visit(req *http.Request) *visit { return d.visitTo(req, req.URL) }

// visitTo returns the visit of a request to the page to, which may differ from the request's own path.
// The name of the caller, for the audit log, is that in the header Carillon-By, which a proxy sets.
func (d *Dashboard) visitTo(req *http.Request, to *url.URL) *visit {
	v := &visit{
		dashboard: d, req: req, path: to.Path, query: cleaned(to.Query()), tenant: tenantDefault,
		by: req.Header.Get("Carillon-By"), now: time.Now(),
	}
	v.reader = d.readerOf(req.Context())
	if t := v.query.Get("tenant"); t != "" {
		v.tenant = t
	} else if first := v.reader.firstTenant(); first != "" {
		v.tenant = first
	}
	if v.client, v.err = client.NewLocal(d.local, client.Options{Tenant: v.tenant, By: v.by}); v.err != nil {
		v.err = refusal(client.CodeInvalidField, http.StatusUnprocessableEntity, "%v", v.err)
	}
	return v
}

// refusal returns an error in the form of the API.
func refusal(code client.Code, status int, format string, args ...any) *client.Error {
	return &client.Error{Code: code, Status: status, Message: fmt.Sprintf(format, args...)}
}

// readForm reads the body of an action. The values of the address are not among those of the form, so a link cannot
// fill in an action.
func (v *visit) readForm(rw http.ResponseWriter) error {
	v.req.Body = http.MaxBytesReader(rw, v.req.Body, formBytesMax)
	err := v.req.ParseForm()
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return refusal(client.CodeTooLarge, http.StatusRequestEntityTooLarge, "the form has more than %d bytes, which is the limit here", formBytesMax)
	}
	if err != nil {
		return refusal(client.CodeInvalidField, http.StatusBadRequest, "the form did not arrive completely; nothing has changed")
	}
	v.form = cleaned(v.req.PostForm)
	return nil
}

// onlyFields refuses a form with another field than those. A field that no page reads would be a filter that selects less than
// the action changes.
func (v *visit) onlyFields(names ...string) error {
	for name := range v.form {
		if !slices.Contains(names, name) {
			return invalid(clip(name), "is no field of this form; want %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// cleaned cleans each of the values. It changes its argument and returns it.
func cleaned(values url.Values) url.Values {
	for _, list := range values {
		for i, value := range list {
			list[i] = cleanText(value)
		}
	}
	return values
}

// cleanText returns a text without invalid UTF-8 and without the spaces around it. Line breaks become those of Go, because
// browsers send two bytes for each.
func cleanText(value string) string {
	value = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(value)
	return strings.TrimSpace(strings.ToValidUTF8(value, "\uFFFD"))
}

// link returns the address of a page for this tenant. pairs are query parameters: names and values in
// turn; those with the value "" are left out.
func (v *visit) link(path string, pairs ...string) string { return link(v.tenant, path, pairs...) }

// link returns a path with query parameters. It leaves out the tenant if that is the default one. Values are
// escaped by Encode, so a name cannot add a parameter.
func link(tenant, path string, pairs ...string) string {
	q := url.Values{}
	if tenant != tenantDefault {
		q.Set("tenant", tenant)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Add(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// onward returns the address of the same page with another cursor. It returns "" without a cursor, so that the
// template shows no link at the end of a list. The filter stays, which the cursor demands.
func (v *visit) onward(cursor string) string {
	if cursor == "" {
		return ""
	}
	q := url.Values{}
	for name, values := range v.query {
		q[name] = values
	}
	q.Set("cursor", cursor)
	q.Del("notice")
	q.Del("n")
	return v.path + "?" + q.Encode()
}
