package dashboard

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// The bounds of one search for jobs and runs that need attention.
const (
	deadRead   = 200 // the newest dead runs of the tenant that are counted
	ailingRead = 50  // jobs of a status that are read; the API searches a bounded number of jobs for them
	lookedUp   = 10  // jobs with the most dead runs whose status is looked up

	// findingsAge is the longest time for which a search is used again. Usually it is streamShare times what the search took,
	// so that all readers of a tenant together cost at most about a twentieth of a processor.
	findingsAge = 5 * time.Second
	// findingsMax bounds the tenants whose search is kept.
	findingsMax = streamsMax
)

// findings are the jobs and the runs of a tenant that need attention.
type findings struct {
	paused []client.JobInfo // by the engine, because their runs failed, or with dead runs
	failed []client.JobInfo // whose schedule cannot go on
	dead   []deadGroup      // by job, those with most dead runs first
	// isShort says that there are more dead runs than were read, so that the counts are lower bounds.
	isShort bool
}

// deadGroup is the dead runs of a job among those that were read.
type deadGroup struct {
	Job    string
	Runs   int
	Latest client.Run
}

// finder keeps the latest search of each tenant, because many pages and streams ask for the same. The zero value is
// ready. Its methods are safe for concurrent use.
type finder struct {
	mu       sync.Mutex
	byTenant map[string]*search
}

// search is the latest search of a tenant. Its mutex is held while the search goes on, so that other readers wait for its
// result and do not search as well.
type search struct {
	mu    sync.Mutex
	found findings
	until time.Time // when the result is too old
}

// of returns the search of a tenant. If too many are kept, all are forgotten: the only loss is time.
func (f *finder) of(tenant string) *search {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s := f.byTenant[tenant]; s != nil {
		return s
	}
	if f.byTenant == nil || len(f.byTenant) >= findingsMax {
		f.byTenant = make(map[string]*search)
	}
	s := new(search)
	f.byTenant[tenant] = s
	return s
}

// findings returns what needs attention among the jobs and runs of the tenant of the visit. The caller has checked that
// the reader may list both.
func (v *visit) findings() (findings, error) {
	s := v.dashboard.finder.of(v.tenant)
	s.mu.Lock()
	defer s.mu.Unlock()
	begun := time.Now()
	if begun.Before(s.until) {
		return s.found, nil
	}
	found, err := v.search()
	if err != nil {
		return found, err
	}
	took := time.Since(begun)
	s.found, s.until = found, begun.Add(min(streamShare*took, findingsAge))
	return found, nil
}

// search reads what findings returns. Each of its few requests is bounded, so at any number of jobs it takes about as long
// as a page of a list.
func (v *visit) search() (f findings, err error) {
	runs, err := v.client.ListRuns(v.req.Context(), client.RunListRequest{Status: "dead", Limit: deadRead})
	if err != nil {
		return f, err
	}
	f.dead, f.isShort = groupDead(runs.Runs), runs.NextCursor != ""
	paused, isWhole, err := v.ailing("paused", scheduler.JobPaused)
	if err != nil {
		return f, err
	}
	f.paused = slices.DeleteFunc(paused, func(j client.JobInfo) bool { return !isPausedByFailures(&j) })
	if !isWhole {
		f.paused = v.lookUp(f.paused, f.dead)
	}
	f.failed, _, err = v.ailing("failed", scheduler.JobFailed)
	return f, err
}

// ailing returns jobs of the tenant with a status, and whether they are all. It asks only if the engine has any.
func (v *visit) ailing(status string, state scheduler.JobState) (jobs []client.JobInfo, isWhole bool, err error) {
	if read := v.dashboard.opts.Status; read != nil && read().JobsBy[state] == 0 {
		return nil, true, nil
	}
	page, err := v.client.List(v.req.Context(), client.ListRequest{Status: status, Limit: ailingRead})
	return page.Jobs, page.NextCursor == "", err
}

// isPausedByFailures reports whether the engine paused a job, and not a caller.
func isPausedByFailures(j *client.JobInfo) bool {
	return j.Status == "paused" && j.StatusBy == job.ActorEngine.By
}

// lookUp adds the jobs with the most dead runs that were paused because of them to a list that may lack them: among
// millions of jobs, the list ends before it has found a few. A job that cannot be read is left out, because it may have
// been deleted.
func (v *visit) lookUp(paused []client.JobInfo, dead []deadGroup) []client.JobInfo {
	for _, g := range dead[:min(len(dead), lookedUp)] {
		if slices.ContainsFunc(paused, func(j client.JobInfo) bool { return j.Name == g.Job }) {
			continue
		}
		j, err := v.client.Get(v.req.Context(), g.Job)
		if err == nil && isPausedByFailures(&j) {
			paused = append(paused, j)
		}
	}
	return paused
}

// groupDead counts dead runs by job. runs must be newest first, so that the first run of a job is its latest.
func groupDead(runs []client.Run) (groups []deadGroup) {
	at := make(map[string]int)
	for _, r := range runs {
		i, known := at[r.Job]
		if !known {
			i = len(groups)
			at[r.Job], groups = i, append(groups, deadGroup{Job: r.Job, Latest: r})
		}
		groups[i].Runs++
	}
	slices.SortStableFunc(groups, func(a, b deadGroup) int { return cmp.Compare(b.Runs, a.Runs) })
	return groups
}
