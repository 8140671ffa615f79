package dashboard

import (
	"crypto/rand"
	"net/url"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// pageRows bounds the rows of a list on one page. A live list is read once a second for each open page, so more rows
// cost the server more than they help a reader.
const pageRows = 50

// jobsBody is the content of the list of jobs: one page of them, and the filter. It shows the filter again as it was
// typed, also if it was refused.
type jobsBody struct {
	jobFilter
	Jobs  []client.JobInfo
	Next  string // address of the next page
	First string // address of the first page; "" on that page
	// Filtered tells an empty tenant from a filter that selects nothing.
	Filtered bool
	Statuses []string
	// Key is drawn anew for each page, so that sending one form twice fires one run of each chosen job.
	Key string

	tenant string
}

// jobFilter is what selects the jobs of the list, as it was typed.
type jobFilter struct {
	Prefix, Contains, Target, Status, LastRun string
	Labels                                    []string // key=value
}

// filterOf returns the filter of a query.
func filterOf(q url.Values) jobFilter {
	f := jobFilter{
		Prefix: q.Get("prefix"), Contains: q.Get("contains"), Target: q.Get("target"), Status: q.Get("status"), LastRun: q.Get("last_run"),
	}
	for _, text := range q["label"] {
		if text != "" { // an empty field of the form is no filter
			f.Labels = append(f.Labels, text)
		}
	}
	return f
}

// link returns an address with the filter, and with further query parameters.
func (f jobFilter) link(tenant, path string, pairs ...string) string {
	pairs = append(pairs, "prefix", f.Prefix, "contains", f.Contains, "target", f.Target, "status", f.Status, "last_run", f.LastRun)
	for _, text := range f.Labels {
		pairs = append(pairs, "label", text)
	}
	return link(tenant, path, pairs...)
}

// To returns the address of an action on chosen jobs, which shows the same list again.
func (b *jobsBody) To(path string) string { return b.link(b.tenant, path) }

// WithLabel returns the address of the list of the jobs that also have a label.
func (b *jobsBody) WithLabel(key, value string) string {
	f := b.jobFilter
	f.Labels = nil
	for _, text := range b.Labels {
		if !strings.HasPrefix(text, key+"=") {
			f.Labels = append(f.Labels, text)
		}
	}
	f.Labels = append(f.Labels, key+"="+value)
	return f.link(b.tenant, "/jobs")
}

// They are the choices of the filter, in the API's words.
var jobStatuses = []string{"active", "paused", "completed", "failed"}

// jobs returns the list of jobs that match the filter in the query.
func (v *visit) jobs() view {
	f := filterOf(v.query)
	body := &jobsBody{jobFilter: f, Statuses: jobStatuses, Key: rand.Text(), tenant: v.tenant}
	p := view{page: "jobs", title: "Jobs", active: "/jobs", body: body, live: []string{"job-list"}}
	request := client.ListRequest{
		Prefix: f.Prefix, Contains: f.Contains, Target: f.Target, Status: f.Status, LastRun: f.LastRun, Cursor: v.query.Get("cursor"),
	}
	for _, text := range f.Labels {
		key, value, found := strings.Cut(text, "=")
		if !found {
			p.err = invalid("label", "%q has no value; want key=value, such as team=billing", clip(text))
			return p
		}
		if request.Labels == nil {
			request.Labels = make(map[string]string)
		}
		request.Labels[key] = value
	}
	body.Filtered = f.link("", "") != link("", "")
	var err error
	if request.Limit, err = v.rows(); err != nil {
		p.err = err
		return p
	}
	page, err := v.client.List(v.req.Context(), request)
	if err != nil {
		p.err = err
		return p
	}
	body.Jobs, body.Next, body.First = page.Jobs, v.onward(page.NextCursor), v.first()
	return p
}
