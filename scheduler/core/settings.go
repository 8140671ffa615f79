package core

import (
	"time"

	"github.com/carillon-io/carillon/schedule"
)

// LeadMax is the largest [Settings.Lead]. No leader decides a tick longer before it is due, so one that is further ahead of the
// clock shows that the clock was set back.
const LeadMax = time.Minute

// Settings are the constants of an engine. They are part of its input: two cores with the same settings and the same
// steps have the same state.
type Settings struct {
	// Lead is how far ahead of its time a tick is decided, so that its commit is durable when it is due. A larger
	// lead hides slower commits; a smaller one makes changes of a schedule take effect sooner. At most LeadMax. Another
	// leader of the same log may have another lead.
	Lead time.Duration
	// Grace is how late a tick may be decided and still be on time if no engine led. A later one is missed. A larger
	// grace fires more ticks after a short outage instead of treating them by the policy for missed runs.
	Grace time.Duration
	// CompletedRetention is how long a completed job is kept. 0 means for ever. A shorter one frees the memory of
	// one-shot jobs sooner; a longer one lets callers still read what became of them.
	CompletedRetention time.Duration
	// HistoryDays is how many days finished runs and the audit log are kept. The history, dead runs and the audit log
	// are kept in buckets of a day, and whole buckets are deleted. In a core, 0 keeps them for ever.
	HistoryDays int
	// ManualMax bounds the live runs of one tenant that callers started. A trigger, a backfill or a retry beyond it
	// is refused. 0 means 100,000. In any case at most half of all live runs are of this kind.
	ManualMax int
	// CatchupRate is how many missed ticks are fired per second. 0 means twice the usual rate of runs, between
	// catchupRateMin and catchupRateMax.
	CatchupRate int
	// Shards is how many shards the cluster has, of which this core is one. They share CatchupRate and its bounds. 0
	// means one.
	Shards int
	// Zones are the rules of timezones. Nil means those in the binary.
	Zones *schedule.Zones
	// DeadLetters publishes dead runs, Events every change of a run's state. Both need an Announcer. Notices are rows
	// of the commit that makes the change, so what happened before a setting was on is not published.
	DeadLetters, Events bool
	// EventsMax bounds the notices that wait to be published; events beyond it are dropped and counted. 0 means
	// 4,000,000.
	EventsMax int
}
