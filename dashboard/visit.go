package dashboard

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// formBytesMax bounds what a form sends. A job with the largest payload fits, although each special
// character takes three bytes.
const formBytesMax = 2 << 20

// tenantDefault is the tenant of a visit that names none.
const tenantDefault = "default"

// visit is one request for a page or an action.
type visit struct {
	dashboard *Dashboard
	req       *http.Request
	path      string     // of the page, which is not that of the request for its stream
	query     url.Values // of the same
	form      url.Values // of the body of an action
	tenant    string
	by        string
	client    *client.Client
	now       time.Time
	err       error // why there is no client
}

// visit makes a visit of a request.
func (d *Dashboard) visit(req *http.Request) *visit { return d.visitTo(req, req.URL) }

// visitTo makes a visit to another page than the request names. Who asks is what a proxy says in the
// header Carillon-By.
func (d *Dashboard) visitTo(req *http.Request, to *url.URL) *visit {
	v := &visit{
		dashboard: d, req: req, path: to.Path, query: cleaned(to.Query()), tenant: tenantDefault,
		by: req.Header.Get("Carillon-By"), now: time.Now(),
	}
	if t := v.query.Get("tenant"); t != "" {
		v.tenant = t
	}
	if v.client, v.err = client.NewLocal(d.local, client.Options{Tenant: v.tenant, By: v.by}); v.err != nil {
		v.err = refusal(client.CodeInvalidField, http.StatusUnprocessableEntity, "%v", v.err)
	}
	return v
}

// refusal is an error as the API has them.
func refusal(code client.Code, status int, format string, args ...any) *client.Error {
	return &client.Error{Code: code, Status: status, Message: fmt.Sprintf(format, args...)}
}

// readForm reads the body of an action.
func (v *visit) readForm(rw http.ResponseWriter) error {
	v.req.Body = http.MaxBytesReader(rw, v.req.Body, formBytesMax)
	err := v.req.ParseForm()
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return refusal(client.CodeTooLarge, http.StatusRequestEntityTooLarge, "the form has more than %d bytes, which is the limit here", formBytesMax)
	}
	if err != nil {
		return refusal(client.CodeInvalidField, http.StatusBadRequest, "the form did not come whole; nothing has changed")
	}
	v.form = cleaned(v.req.PostForm)
	return nil
}

// cleaned replaces what is no UTF-8 in values, and takes off the spaces around them.
func cleaned(values url.Values) url.Values {
	for _, list := range values {
		for i, value := range list {
			value = strings.ReplaceAll(value, "\r\n", "\n")
			list[i] = strings.TrimSpace(strings.ToValidUTF8(value, "\uFFFD"))
		}
	}
	return values
}

// open returns a page, or why it cannot be visited.
func (v *visit) open(page func(*visit) view) view {
	if v.err != nil {
		return failed(v.err)
	}
	return page(v)
}

// link returns the address of a page for this tenant. Parameters are pairs of a name and a value; those
// without a value are left out.
func (v *visit) link(path string, pairs ...string) string { return link(v.tenant, path, pairs...) }

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

// onward is the address of the same page with another cursor.
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
