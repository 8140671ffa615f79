package api

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/scheduler"
)

// Surroundings report what is wrong around a server: conditions that the server does not cause but that weaken its
// promises. Their methods are safe for concurrent use. Looking and reading are apart, so that a metrics scrape or a
// page never waits for a check.
type Surroundings interface {
	// Look checks the surroundings, unless it did so a moment ago. It takes at most half a second. It is called for
	// a status that a caller asks for, and not for one that a scrape or a live page reads every second.
	Look()
	// Warnings returns what the last check found, each with what to do. It does not block.
	Warnings() []string
}

// Node is what a node shows of itself besides the readings of its engine. The zero value shows nothing more. It is
// copied; what its functions return is asked for at each status. Every way in shows the status through it, so that
// the verb, the page and the path of HTTP agree.
type Node struct {
	Version string // of the program; default "dev"

	// Cluster returns the state of the node and of the others; nil: the node is alone. Safe for concurrent use.
	Cluster func() *client.Cluster
	// Shards returns what the node knows of each shard of a cluster of several, in order; nil: there is one shard. Safe for
	// concurrent use. It must not block.
	Shards func() []client.ShardStatus
	// Inboxes restricts the subjects of replies, and counts the requests over NATS that want their replies elsewhere.
	// Nil means the usual inboxes, and counts nothing.
	Inboxes *inbox.Rule
	// Surroundings report what is wrong around the server; nil: nothing is known.
	Surroundings Surroundings
	// Further returns warnings besides those of the surroundings; nil: there are none. It must not block, and is safe for
	// concurrent use.
	Further func() []string
	// Guarded returns warnings that only some callers may read, because they name tenants or files: those for one caller,
	// or all for nil. nil: there are none. It must not block, and is safe for concurrent use.
	Guarded func(*access.Who) []string
}

// Status returns the status of a node whose engine has the given one, as a caller may read it, with the warnings of the
// last Look. The caller of Status owns the result. It does not look at the surroundings itself, because it must not block.
func (n *Node) Status(engine scheduler.Status, who access.Who) *client.Status {
	info := statusInfo(engine, n.Version, n.Cluster)
	if n.Shards != nil {
		info.Shards = n.Shards()
	}
	info.DroppedRequests = n.Inboxes.Dropped()
	info.Warnings = append(info.Warnings, n.Warnings()...)
	if n.Guarded != nil {
		info.Warnings = append(info.Warnings, n.Guarded(&who)...)
	}
	return info
}

// Look checks the surroundings, as [Surroundings] does.
func (n *Node) Look() {
	if n.Surroundings != nil {
		n.Surroundings.Look()
	}
}

// Warned returns how many warnings there are, also those that only some callers may read.
func (n *Node) Warned() int {
	count := len(n.Warnings())
	if n.Guarded != nil {
		count += len(n.Guarded(nil))
	}
	return count
}

// Warnings returns what the last Look found, and the further warnings: those that each caller may read.
func (n *Node) Warnings() (warnings []string) {
	if n.Surroundings != nil {
		warnings = n.Surroundings.Warnings()
	}
	if n.Further != nil {
		warnings = append(warnings, n.Further()...)
	}
	return warnings
}

// warnLost adds to a status the warning that events were dropped. It is a warning and not an error: decisions and
// runs do not depend on published events.
func warnLost(info *client.Status) {
	if info.NoticesLost > 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%d events or dead letters were dropped since the start: because too many waited to be published, because their jobs were deleted and a node of the cluster does not read what is kept for that, or because events were switched off. "+
			"See that the stream of events takes them, or let more wait (--events-max-waiting), and upgrade all nodes. The runs themselves are whole (carillon export --runs)", info.NoticesLost))
	}
}

// clockBehindLeast is from when on a clock that is behind is worth a warning. Time daemons step clocks by less, and no one
// has to do anything about it.
const clockBehindLeast = time.Second

// ClockText says how far the clock of a node is behind, and what follows; "" if that is not worth a word.
func ClockText(info *client.Status) string {
	behind := time.Duration(info.ClockBehindMS * float64(time.Millisecond))
	if behind < clockBehindLeast {
		return ""
	}
	return fmt.Sprintf("%s %s behind the time up to which ticks are decided, because it was set back, or was ahead before: "+
		"no tick is decided twice, so jobs with decided ticks stand still until it has caught up, and new jobs run by the present clock", clockWarning, behind.Truncate(time.Second))
}

// clockWarning is how each ClockText begins.
const clockWarning = "the clock is"

// warnClock adds to a status the warning that the clock is behind, in place of those of single shards.
func warnClock(info *client.Status) {
	info.Warnings = slices.DeleteFunc(info.Warnings, func(text string) bool { return strings.HasPrefix(text, clockWarning) })
	if text := ClockText(info); text != "" {
		info.Warnings = append(info.Warnings, text+". If the clock is wrong, set it right (chronyc tracking, timedatectl); if it is right, wait, "+
			"or trigger the jobs that cannot wait: see \"The clock was set\" in the runbook")
	}
}
