package scheduler

import (
	"bytes"
	"strings"

	"github.com/carillon-io/carillon/job"
)

// ListQuery selects jobs of one tenant, in the order of names. All of its filters must match. The index of lists finds
// jobs by Labels, by LastFailed, and by each Status but active; the other filters are held against what was read.
type ListQuery struct {
	Tenant   string
	Prefix   string     // of the name
	Contains string     // text that the name contains, in upper or lower case; "" is any
	Labels   []job.Pair // all must match
	Status   string     // "" is any
	Target   string     // text that the [job.Target.Site] of the target contains; "" is any
	// LastFailed selects jobs whose run that ended last is dead.
	LastFailed bool
	Limit      int    // 1 to PageMax
	After      string // name of the last job of the previous page; "" means the beginning

	// Plan is that of the page before, if this page continues it within one request; nil: the list is planned anew. It
	// saves work, and pages with one plan share the bounds of the work for one page.
	Plan *ListPlan
}

// JobPage is one page of jobs. A page can be short or even empty and still have a Next: the work for one page is
// bounded, and a narrow filter may not find enough jobs within the bound.
type JobPage struct {
	Jobs []JobView
	Next string    // to be given as After for the next page; "" at the end
	Plan *ListPlan // for another page of the same request
}

// hasName reports whether a name has the text that the query wants. scratch is reused.
func (q *ListQuery) hasName(name []byte, scratch *[]byte) bool {
	if q.Contains == "" {
		return true
	}
	*scratch = appendLower((*scratch)[:0], name)
	return bytes.Contains(*scratch, []byte(q.Contains))
}

// appendLower appends a text with its letters A to Z in lower case. Names have no other letters.
func appendLower[T string | []byte](b []byte, text T) []byte {
	for i := range len(text) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// mayHaveTimer reports whether a job with a hot row may turn out to be selected.
func (q *ListQuery) mayHaveTimer(timer job.Timer) bool {
	return mayBe(timer.Flags.JobStatus(), q.Status) && (!q.LastFailed || timer.Flags.Is(job.FlagDead))
}

// hasRecord reports whether a cold row is as the query wants it. Tenant and labels are compared also if the index has
// found the job, because it knows both by hashes only.
func (q *ListQuery) hasRecord(rec *job.Record) bool {
	return (q.Tenant == "" || rec.Def.Tenant == q.Tenant) && hasPairs(rec.Def.Labels, q.Labels) && q.hasTarget(rec.Def.Target)
}

// hasTarget reports whether a target is one that the query wants. Of a URL only scheme and host count, which are in
// lower case: the rest may be secret, and a search must not find out what it is.
func (q *ListQuery) hasTarget(t job.Target) bool {
	if q.Target == "" {
		return true
	}
	want := q.Target
	if t.Kind == job.TargetHTTP && t.URLSecret == "" {
		want = strings.ToLower(want)
	}
	return strings.Contains(t.Site(), want)
}

// mayBe reports whether a job whose row has one status may turn out to have the wanted one; "" means any. A completed
// job counts as active until its last run has left.
func mayBe(status, want string) bool {
	return want == "" || status == want || status == "completed" && want == "active"
}

// hasPairs reports whether a job has all the labels that a query wants.
func hasPairs(pairs, want []job.Pair) bool {
	for _, p := range want {
		if !hasPair(pairs, p) {
			return false
		}
	}
	return true
}

func hasPair(pairs []job.Pair, want job.Pair) bool {
	for _, p := range pairs {
		if p == want {
			return true
		}
	}
	return false
}
