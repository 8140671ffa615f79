// Package rungroup counts runs by job and by the error with which they ended, so that a reader of many dead runs sees a
// few causes. The command line and the dashboard group by the same rule.
package rungroup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// Group is what the runs of a job have in common that ended for the same cause. It is an element of a document.
type Group struct {
	Job     string      `json:"job"`
	Error   string      `json:"error,omitempty"` // that of the latest run; "" if the groups are jobs
	Runs    int         `json:"runs"`
	FirstAt client.Time `json:"first_at"` // when the first and the last of them were scheduled
	LastAt  client.Time `json:"last_at"`
	RunID   string      `json:"run_id"` // of the latest run

	Cause string `json:"-"` // [CauseID] of each of the runs; "" if the groups are jobs
}

// GroupsMax bounds the groups. The runs of further ones are counted together.
const GroupsMax = 1000

// Groups are groups while runs are added, the newest first. It is for one goroutine at a time.
type Groups struct {
	Others int // runs of groups beyond GroupsMax

	byError bool
	list    []*Group
	byKey   map[[2]string]*Group
}

// New returns no groups: by job and error, or by job alone.
func New(byError bool) *Groups { return &Groups{byError: byError, byKey: make(map[[2]string]*Group)} }

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.list) }

// Add counts a run. Its scheduled time must not be later than that of any run before it.
func (g *Groups) Add(r *client.Run) {
	text, cause := "", ""
	if g.byError {
		text, cause = Why(r), CauseID(r)
	}
	key := [2]string{r.Job, cause}
	group := g.byKey[key]
	switch {
	case group == nil && len(g.list) == GroupsMax:
		g.Others++
		return
	case group == nil:
		group = &Group{Job: r.Job, Error: text, Cause: cause, LastAt: r.ScheduledAt, RunID: r.RunID}
		g.byKey[key] = group
		g.list = append(g.list, group)
	}
	group.Runs++
	group.FirstAt = r.ScheduledAt
}

// Sorted returns at most limit groups, those with most runs first; 0 is no limit.
func (g *Groups) Sorted(limit int) []*Group {
	slices.SortStableFunc(g.list, func(a, b *Group) int { return cmp.Compare(b.Runs, a.Runs) })
	if limit > 0 && len(g.list) > limit {
		return g.list[:limit]
	}
	return g.list
}

// Why returns the reason and the error of a run, as far as it has them. Some errors begin with the reason.
func Why(r *client.Run) string {
	if strings.HasPrefix(r.Error, r.Reason) {
		return r.Error
	}
	return strings.TrimSpace(r.Reason + " " + r.Error)
}

// varying matches what differs between two errors of one cause: numbers, such as ports and times, and ids, which have
// digits among their letters.
var varying = regexp.MustCompile(`[0-9A-Za-z]*[0-9][0-9A-Za-z]*`)

// CauseID returns a text for the cause of a run, equal for the runs of a group and short enough for an address: a digest
// of [Why] with # in place of what varies.
func CauseID(r *client.Run) string {
	sum := sha256.Sum256([]byte(varying.ReplaceAllString(Why(r), "#")))
	return hex.EncodeToString(sum[:16])
}
