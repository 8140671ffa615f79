package dashboard

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
)

// The bounds of the list of concerns.
const (
	// jobConcernsMax bounds the jobs that are listed for one reason. Further ones are counted in one line.
	jobConcernsMax = 5
	// silentAfter is how long a node was not heard of until it is a concern. Nodes send a beat several times a second.
	silentAfter = 10 * time.Second
)

// concern is one thing that an operator has to deal with. Kind is for tests and styles; Text says what is wrong, Detail
// why, as far as that is known, and Address leads to where it is dealt with.
type concern struct {
	Kind, Tone   string
	Job          string // name of the job that it is about; "" for none
	Text, Detail string
	Address      string
	Where        string // text of the link
}

// concerns returns what needs attention, what is worst first: the node and its cluster, and then the jobs of the tenant, if
// the reader may list them.
func (v *visit) concerns(status *client.Status) []concern {
	list := v.clusterConcerns(status)
	for _, w := range status.Warnings {
		list = append(list, concern{Kind: "warning", Tone: "warn", Text: w, Address: v.link("/") + "#engine", Where: "this node"})
	}
	if v.permits("jobs.list") == nil && v.permits("runs.list") == nil && status.Role != "" {
		list = append(list, v.jobConcerns()...)
	}
	if c := status.CatchUp; c.Jobs > 0 {
		list = append(list, concern{
			Kind: "catch-up", Tone: "busy", Text: "Missed runs are being fired: " + countOf(uint32(c.Jobs), "job", "jobs") + " left.",
			Detail: fmt.Sprintf("%s runs a second, about %s to go", rate(c.Rate), c.Left), Address: v.link("/") + "#engine", Where: "this node",
		})
	}
	slices.SortStableFunc(list, func(a, b concern) int { return slices.Index(severities, a.Tone) - slices.Index(severities, b.Tone) })
	return list
}

// severities lists the tones of concerns, the worst first.
var severities = []string{"bad", "warn", "busy"}

// clusterConcerns returns what needs attention in a cluster; nothing for a node alone.
func (v *visit) clusterConcerns(status *client.Status) (list []concern) {
	c := status.Cluster
	if c == nil {
		return nil
	}
	add := func(kind, tone, text string) {
		list = append(list, concern{Kind: kind, Tone: tone, Text: text, Address: v.link("/nodes"), Where: "the nodes"})
	}
	for _, s := range status.Shards {
		if !s.HasLeader {
			add("no-leader", "bad", fmt.Sprintf("No node leads shard %d: none of its jobs is launched until one does.", s.Shard))
		}
	}
	if c.Holder == "" && len(status.Shards) == 0 {
		add("no-leader", "bad", "No node leads: nothing is launched until one does.")
	}
	for _, n := range c.Nodes {
		if silent := time.Duration(n.SilentMS * float64(time.Millisecond)); silent >= silentAfter {
			add("silent", "bad", fmt.Sprintf("The node %s was last heard of %s ago.", n.Node, span(silent)))
		}
	}
	for _, w := range c.Warnings {
		tone := "warn"
		if w == c.Waits { // no node leads until the others are there
			tone = "bad"
		}
		add("warning", tone, w)
	}
	return list
}

// jobConcerns returns what needs attention among the jobs and the dead runs of the tenant.
func (v *visit) jobConcerns() (list []concern) {
	f, err := v.findings()
	if err != nil {
		return []concern{{Kind: "unread", Tone: "warn", Text: "The jobs and the dead runs could not be read.", Detail: publicError(err).Message, Address: v.link("/jobs"), Where: "jobs"}}
	}
	list = v.ailingConcerns(f.paused, "paused", "was paused because its runs failed.")
	list = append(list, v.ailingConcerns(f.failed, "failed", "has failed: its schedule cannot go on.")...)
	return append(list, v.deadConcerns(&f)...)
}

// ailingConcerns returns a concern for each job, at most jobConcernsMax of them, and one for all others.
func (v *visit) ailingConcerns(jobs []client.JobInfo, status, what string) (list []concern) {
	for i := range jobs[:min(len(jobs), jobConcernsMax)] {
		j := &jobs[i]
		list = append(list, concern{
			Kind: status, Tone: "bad", Job: j.Name, Text: what, Detail: j.StatusReason, Address: v.link("/job", "name", j.Name), Where: "the job",
		})
	}
	if more := len(jobs) - jobConcernsMax; more > 0 {
		list = append(list, concern{
			Kind: status, Tone: "bad", Text: fmt.Sprintf("%s, for the same reason.", countOf(uint32(more), "further job", "further jobs")),
			Address: v.link("/jobs", "status", status), Where: status + " jobs",
		})
	}
	return list
}

// deadConcerns returns a concern for each of the jobs that fail most, and one for the dead runs of all others.
func (v *visit) deadConcerns(f *findings) (list []concern) {
	atLeast := ""
	if f.isShort {
		atLeast = "at least "
	}
	for _, g := range f.dead[:min(len(f.dead), jobConcernsMax)] {
		list = append(list, concern{
			Kind: "dead", Tone: "bad", Job: g.Job, Text: "has " + atLeast + countOf(uint32(g.Runs), "dead run", "dead runs") + ".",
			Detail: orElse(g.Latest.Error, g.Latest.Reason), Address: v.link("/runs", "job", g.Job, "status", "dead"), Where: "its dead runs",
		})
	}
	others := 0
	for _, g := range f.dead[len(list):] {
		others += g.Runs
	}
	if others > 0 {
		list = append(list, concern{
			Kind: "dead", Tone: "bad", Text: "Other jobs have " + atLeast + countOf(uint32(others), "dead run", "dead runs") + ".",
			Address: v.link("/runs", "status", "dead"), Where: "all dead runs",
		})
	}
	return list
}
