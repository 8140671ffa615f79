package dashboard

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/rungroup"
)

const (
	// deadSeenMax bounds the dead runs that a page or an action of groups reads, the newest first.
	deadSeenMax = 10_000
	// deadPage is how many of them one request reads.
	deadPage = 1000
	// deadGroupsMax bounds the groups of a page.
	deadGroupsMax = 100
)

// deadBody is the content of the page of dead runs by job and error.
type deadBody struct {
	Job    string // "" is all jobs
	Groups []*rungroup.Group
	Seen   int  // dead runs that the groups count
	Left   int  // groups beyond Groups
	Others int  // runs of groups that are not counted by group
	More   bool // there are dead runs beyond Seen
}

// dead returns the page of dead runs by job and error.
func (v *visit) dead() view { return v.deadGroups(v.query.Get("job")) }

// deadGroups returns the dead runs of a job, or of all jobs, in groups. It is not live, because each poll would read
// thousands of runs.
func (v *visit) deadGroups(job string) view {
	body := &deadBody{Job: job}
	groups := rungroup.New(true)
	more, err := v.eachDead(job, func(r *client.Run) bool {
		groups.Add(r)
		body.Seen++
		return true
	})
	body.Groups, body.Others, body.More = groups.Sorted(deadGroupsMax), groups.Others, more
	body.Left = groups.Len() - len(body.Groups)
	return view{page: "dead", title: "Dead runs by error", active: "/runs", body: body, err: err}
}

// eachDead calls visit with the dead runs of a job, or of all jobs, the newest first, until it returns false. It reads at
// most deadSeenMax runs. more reports whether there are runs that it did not read or visit.
func (v *visit) eachDead(job string, visit func(*client.Run) bool) (more bool, err error) {
	request := client.RunListRequest{Job: job, Status: "dead", Limit: deadPage}
	for range deadSeenMax / deadPage {
		page, err := v.client.ListRuns(v.req.Context(), request)
		if err != nil {
			return false, err
		}
		for i := range page.Runs {
			if !visit(&page.Runs[i]) {
				return i+1 < len(page.Runs) || page.NextCursor != "", nil
			}
		}
		if request.Cursor = page.NextCursor; request.Cursor == "" {
			return false, nil
		}
	}
	return true, nil
}

// retryGroup begins another attempt of the dead runs of a group.
func (v *visit) retryGroup() (string, view) {
	return v.eachOfGroup("many", "more", func(id string) error {
		_, err := v.client.RetryRun(v.req.Context(), id)
		return err
	})
}

// dismissGroup dismisses the dead runs of a group.
func (v *visit) dismissGroup() (string, view) {
	return v.eachOfGroup("dismissed_many", "dismissed_more", func(id string) error {
		_, err := v.client.Dismiss(v.req.Context(), client.DismissRequest{RunID: id, Reason: v.form.Get("reason")})
		return err
	})
}

// eachOfGroup changes the dead runs of the group that the form names, the newest first and at most changedMax of them,
// and shows the groups again with the number of runs that it changed. A run that another caller changed meanwhile is
// passed over. The first other error ends it; the page then says how many were changed before.
func (v *visit) eachOfGroup(all, some string, change func(id string) error) (string, view) {
	job, cause := v.form.Get("job"), v.form.Get("cause")
	done := 0
	var failed error
	more, err := v.eachDead(job, func(r *client.Run) bool {
		if rungroup.CauseID(r) != cause {
			return true
		}
		switch err := change(r.RunID); {
		case err == nil:
			done++
		case !isOvertaken(err):
			failed = err
		}
		return failed == nil && done < changedMax
	})
	if err = cmp.Or(failed, err); err != nil {
		e := *publicError(err)
		e.Message = fmt.Sprintf("%s (%d were changed before)", e.Message, done)
		p := v.deadGroups("")
		p.err = &e
		return "", p
	}
	notice := all
	if more {
		notice = some
	}
	return v.link("/dead", "notice", notice, "n", strconv.Itoa(done)), view{}
}

// isOvertaken reports whether a change of a dead run failed because another caller changed the run first.
func isOvertaken(err error) bool {
	switch publicError(err).Code {
	case client.CodeVersionConflict, client.CodeRunOver, client.CodeNotFound:
		return true
	}
	return false
}
