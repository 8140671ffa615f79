package dashboard

import (
	"strings"

	"github.com/carillon-io/carillon/client"
)

// pageRows bounds the rows of a list on one page. A live list is read once a second for each open page, so more rows
// cost the server more than they help a reader.
const pageRows = 50

// jobsBody is the content of the list of jobs: one page of them, and the filter. It shows the filter again as it was
// typed, also if it was refused.
type jobsBody struct {
	Prefix, Status string
	Labels         []string // key=value, as they were typed
	Jobs           []client.JobInfo
	Next           string // address of the next page
	First          string // address of the first page; "" on that page
	// Filtered tells an empty tenant from a filter that selects nothing.
	Filtered bool
	Statuses []string
}

// They are the choices of the filter, in the API's words.
var jobStatuses = []string{"active", "paused", "completed", "failed"}

// jobs returns the list of jobs that match the filter in the query.
func (v *visit) jobs() view {
	q := v.query
	body := &jobsBody{Prefix: q.Get("prefix"), Status: q.Get("status"), Statuses: jobStatuses}
	p := view{page: "jobs", title: "Jobs", active: "/jobs", body: body, live: []string{"job-list"}}
	request := client.ListRequest{Prefix: body.Prefix, Status: body.Status, Cursor: q.Get("cursor")}
	for _, text := range q["label"] {
		// An empty field of the form is no filter.
		if text == "" {
			continue
		}
		body.Labels = append(body.Labels, text)
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
	body.Filtered = body.Prefix != "" || body.Status != "" || len(body.Labels) > 0
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
