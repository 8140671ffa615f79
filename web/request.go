package web

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// Bounds of bodies. The first fits a job with the largest payload in base64; a bulk registration may be as large as a
// message of the embedded NATS server.
const (
	singleBytesMax = 1 << 20
	bulkBytesMax   = 4 << 20
)

// How many bodies are read at a time. Each is held in memory before a gate counts its request.
const (
	readsMax     = 256
	bulkReadsMax = 16
	// A body counts as long as it says that it is, and as long as it may be if it does not say.
	readBytesMax     = 64 << 20
	bulkReadBytesMax = 64 << 20
)

// How long a bulk registration may take to arrive, and then to be answered.
const (
	// The second replaces the WriteTimeout of the server, which counts from the header on and would end the
	// connection while the jobs are still being registered.
	bulkReadTimeout  = time.Minute
	bulkWriteTimeout = 3 * time.Minute
)

// tenantHeader is the header that names the tenant.
const (
	tenantHeader  = "Carillon-Tenant"
	tenantDefault = "default"
)

// keyHeader is the header of a trigger that means the same as the member idempotency_key. The header is that of the
// IETF's draft of the same name.
const keyHeader = "Idempotency-Key"

// call is an HTTP request that is being converted into a request of a verb. It belongs to the goroutine of its
// request. The embedded request is complete only after callOf has returned without an error.
type call struct {
	api.Request
	route *route
	verb  *api.Verb
	// params has only checked values: takeQuery sets it when none of them is wrong.
	params map[string][]string // of the query
	// outside has what the path, the query and the headers say, in that order. Each is a member of the verb's
	// request.
	outside []outsideMember
	// A conflict is then answered with 412 and not with 409.
	isConditional bool // a header demands a version
}

// outsideMember is a member of a request that is not in its body. value is JSON and comes from quoted or from digits
// that were checked, so it can be inserted into a body as it is.
type outsideMember struct {
	name  string
	value jsontext.Value
	place string // where it is, for errors
}

// callOf converts a request of a caller into a request of a verb. The order is that of what a caller may learn: rights,
// then the query and the headers, then the body, so that a request that is refused anyway costs no memory. A body may come slowly: if
// the file of rights has changed meanwhile, the rights are those after it. The call is returned with an error too, for what was read
// until then.
func (w *gateway) callOf(rw http.ResponseWriter, req *http.Request, x *api.Executor, r *route, name string, who access.Who) (*call, error) {
	c := &call{route: r, verb: api.VerbNamed(r.verb)}
	c.Host, _, _ = net.SplitHostPort(req.RemoteAddr)
	c.Who = who
	if member := r.member(); member != "" {
		c.add(member, quoted(name), "the path")
	}
	err := c.takeTenant(req)
	if err == nil {
		err = x.Authorize(c.verb, &c.Request)
	}
	if err == nil {
		err = c.takeQuery(req.URL.RawQuery)
	}
	if err == nil {
		err = c.takeHeaders(req.Header)
	}
	if err != nil {
		return c, err
	}
	if r.hasBody() {
		c.Body, err = w.readBody(rw, req, c)
	} else if req.ContentLength != 0 { // -1: the length is unknown
		err = apierr.Errorf(apierr.InvalidField, "body", "does not belong to a %s; want what it says as parameters of the query", r.method)
	} else {
		c.Body = c.queryObject()
	}
	if err == nil && !w.opts.Access.IsCurrent(c.Who) {
		c.Who = w.recognize(req)
		err = x.Authorize(c.verb, &c.Request)
	}
	if err == nil {
		c.Body, err = c.merge(c.Body)
	}
	return c, err
}

// add adds a member that is not in the body. It is checked against the body later, when that is read.
func (c *call) add(name string, value jsontext.Value, place string) {
	c.outside = append(c.outside, outsideMember{name, value, place})
}

// takeTenant reads the tenant from the header and the query. The two may only agree, because a proxy that permits by the
// one would otherwise be bypassed by the other.
func (c *call) takeTenant(req *http.Request) error {
	if err := takeOnce(req.Header, tenantHeader, true); err != nil {
		return err
	}
	params, err := parseQuery(req.URL.RawQuery)
	if err != nil {
		return err
	}
	given, inQuery := req.Header.Get(tenantHeader), params["tenant"]
	if len(inQuery) > 0 {
		if err := checkParam("tenant", inQuery); err != nil {
			return err
		}
		if given != "" && given != inQuery[0] {
			return apierr.Errorf(apierr.InvalidField, "tenant", "is %q in the query and %q in the header; want one of them", apierr.Clip(inQuery[0]), apierr.Clip(given))
		}
		given = inQuery[0]
	}
	c.Tenant = cmp.Or(given, tenantDefault)
	return job.ValidateTenant(c.Tenant)
}

// takeOnce refuses a header that is there twice: proxies disagree on which value counts. needed says that it must not be
// empty.
func takeOnce(h http.Header, name string, needed bool) error {
	values := h.Values(name)
	if n := len(values); n > 1 {
		return apierr.Errorf(apierr.InvalidField, name, "is there %d times; want it once", n)
	}
	if needed && len(values) == 1 && values[0] == "" {
		return apierr.Errorf(apierr.InvalidField, name, "is empty; want a value, or leave the header out")
	}
	return nil
}

// takeHeaders reads the asker and the conditions from the headers. An empty Carillon-By means that the caller does not
// name itself.
func (c *call) takeHeaders(h http.Header) error {
	for _, name := range [...]string{api.ByHeader, keyHeader, api.StandbyHeader} {
		if err := takeOnce(h, name, name == keyHeader && c.route.hasKey); err != nil {
			return err
		}
	}
	c.Asker = job.Actor{By: h.Get(api.ByHeader), From: "http"}
	if err := c.Asker.Validate(); err != nil {
		return err
	}
	switch may := h.Get(api.StandbyHeader); may {
	case "":
	case "true":
		c.Lag = new(api.Lag)
	default:
		return apierr.Errorf(apierr.InvalidField, api.StandbyHeader, "is %q; want true, or leave the header out", apierr.Clip(strings.ToValidUTF8(may, "")))
	}
	if key := h.Get(keyHeader); key != "" && c.route.hasKey {
		c.add("idempotency_key", quoted(key), "the header "+keyHeader)
	}
	return c.takeConditions(h)
}

// takeConditions reads the demanded version of the job. A condition that cannot be checked is refused, because the
// caller relies on it. The condition becomes the member if_version, which the engine checks in the commit of the
// change; a check in the gateway could be true and out of date a moment later.
func (c *call) takeConditions(h http.Header) error {
	match, isMatch := headerList(h, "If-Match")
	noneMatch, isNoneMatch := headerList(h, "If-None-Match")
	if isMatch {
		version, ok := strings.CutPrefix(match, `"`)
		version, closed := strings.CutSuffix(version, `"`)
		n, err := strconv.ParseUint(version, 10, 32)
		switch {
		case !c.route.hasVersion:
			return apierr.Errorf(apierr.InvalidField, "If-Match", "is no condition of this request; it is one of a put, a delete, a pause, a resume and a trigger of a job")
		case !ok || !closed || err != nil || n == 0:
			return apierr.Errorf(apierr.InvalidField, "If-Match", `is %s; want one version, as the header ETag has it, such as "7"`, apierr.Clip(strings.ToValidUTF8(match, "")))
		}
		c.add("if_version", strconv.AppendUint(nil, n, 10), "the header If-Match")
	}
	if isNoneMatch && c.route.method != http.MethodGet {
		if !c.route.mayCreate || noneMatch != "*" {
			return apierr.Errorf(apierr.InvalidField, "If-None-Match", "is no condition of this request; it is one of a put of a job, as *, and of a GET")
		}
		c.add("if_version", jsontext.Value("0"), "the header If-None-Match")
	}
	c.isConditional = isMatch || isNoneMatch
	return nil
}

// headerList returns all values of a header, in one line or in several, and reports whether it is present. A list
// over several lines means the same as one line with commas (RFC 9110, section 5.3).
func headerList(h http.Header, name string) (list string, given bool) {
	lines := h.Values(name)
	return strings.Join(lines, ", "), len(lines) > 0
}

// readBody reads the body of a request, with bounds of type and size. A missing body means {} if the request needs no
// members in it. A length that the caller announces is refused without reading; an unannounced one is bounded while
// it is read. The place is freed when the body is there: from then on the gate of the executor bounds the request.
func (w *gateway) readBody(rw http.ResponseWriter, req *http.Request, c *call) ([]byte, error) {
	most, reads := int64(singleBytesMax), w.reads
	if c.verb.Bulk {
		most, reads = bulkBytesMax, w.bulkReads
	}
	if req.ContentLength > most {
		return nil, errBodyTooLarge(most)
	}
	length := req.ContentLength
	if length < 0 {
		length = most
	}
	if err := reads.take(c.Tenant, length); err != nil {
		return nil, err
	}
	defer reads.free(c.Tenant, length)
	// Both replace the deadlines of the server, which are those of a single request.
	if c.verb.Bulk {
		now, conn := time.Now(), http.NewResponseController(rw)
		_ = conn.SetReadDeadline(now.Add(bulkReadTimeout)) // if this fails, the server's own bounds hold
		_ = conn.SetWriteDeadline(now.Add(bulkWriteTimeout))
	}
	// MaxBytesReader also closes the connection after too large a body, so that the rest is not read.
	body, err := readUpTo(http.MaxBytesReader(rw, req.Body, most), req.ContentLength)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return nil, errBodyTooLarge(most)
	}
	switch {
	case err != nil:
		return nil, apierr.Errorf(apierr.InvalidJSON, "", "the body did not come whole; nothing has changed")
	case len(body) == 0 && c.needsNoBody():
		return []byte("{}"), nil
	case len(body) > 0 && !isJSON(req.Header):
		return nil, &client.Error{
			Code: api.CodeUnsupportedMediaType, Status: http.StatusUnsupportedMediaType, Field: "Content-Type",
			Message: "want a body of Content-Type application/json, in UTF-8 and without Content-Encoding",
		}
	}
	return body, nil
}

// readUpTo reads a whole body whose length is known, or -1. The caller has checked the length against the bound, so
// the allocation is bounded too.
func readUpTo(r io.Reader, length int64) ([]byte, error) {
	if length < 0 {
		return io.ReadAll(r)
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	return body, err
}

// errBodyTooLarge returns the error for a body beyond its bound, announced or read.
func errBodyTooLarge(most int64) error {
	return apierr.Errorf(apierr.TooLarge, "", "the body has more than %d bytes, which is the limit here", most)
}

// needsNoBody reports whether all required members of a request are outside its body. A POST without a body is then a
// request with the defaults.
func (c *call) needsNoBody() bool { return c.verb.NeedsOnly(c.route.member()) }

// isJSON reports whether the headers announce a JSON body without an encoding. The type is demanded because a form of
// another site can send a body without it, but not with it unless the server permits it first.
func isJSON(h http.Header) bool {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && h.Get("Content-Encoding") == "" &&
		(!given || strings.EqualFold(charset, "utf-8"))
}

// quoted returns a text as a JSON string. Invalid UTF-8 in it is replaced, and the result is then not a valid name
// either.
func quoted(text string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, text)
	return b
}
