package pad

import (
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// Sender takes launches to their targets, as many at a time as these have places. None of its methods may block. They
// are called from several goroutines. They are called with locks of the pad held: Reserve with mu, Launch and Release
// with sending.
type Sender interface {
	// Reserve reserves a place for an attempt in a lane with a payload of the given size, and reports whether there
	// was one. After true the caller must call Launch or Release. After false the sender calls room once, later, from
	// any goroutine, possibly from within Release, with a place that is reserved. room reports whether the caller
	// uses it; if not, the place is free again. room does not block. Until that call, Reserve of the same lane
	// returns false.
	Reserve(lane job.Lane, payloadBytes int, room func() bool) bool
	// Release frees a reserved place that no Launch has used.
	Release(lane job.Lane, payloadBytes int)
	// Launch starts an attempt for which the caller has reserved a place with the same lane and payload size. The
	// sender frees the place when the attempt is over. It calls done exactly once, later, from any goroutine.
	Launch(d *job.Delivery, done func(job.Outcome))
}

// Rows reads single rows. It is safe for concurrent use.
type Rows interface {
	// Get returns a copy of the value of a key; ok is false if there is none.
	Get(key []byte) (value []byte, ok bool, err error)
}

// Options configure a pad. Sender, Rows and Report are required.
type Options struct {
	Sender Sender
	Rows   Rows // the jobs, and the payloads of manual runs
	// Report accepts outcomes. mayWait says that nothing waits for the commit of this one: its run succeeded and has no turn,
	// or it has passed its turn on. It is called with locks held, so it must neither block nor call the pad.
	Report func(o job.Outcome, mayWait bool)

	// Trust returns for how long, from now on, launches may leave. With 0 or less they wait on the pad until it
	// returns more. It is called before each batch of launches, from several goroutines. Nil means always.
	Trust func() time.Duration
	// TemplateBytes bounds what the pad keeps of the definitions of jobs with several launches, so that their rows are not read
	// for each. 0 means 8 MiB: some ten thousand jobs.
	TemplateBytes int64
	// Ticks launch what is due. Several pads of a process share them. Nil: the pad has one of its own.
	Ticks *Ticks
	// Now reads the wall clock and, in the same value, the monotonic clock. Nil means time.Now.
	Now func() time.Time
}

const templateBytesDefault = 8 << 20

// horizon is how many milliseconds before its time a launch is prepared. It must cover the time that a feeder needs
// for the rows of a herd. A larger one keeps deliveries in memory for longer; with a smaller one a herd finds more of
// its rows unread when it is due. A launch is committed up to ten seconds ahead in a cluster, so most of that time it
// waits without its delivery.
const horizon instant.Millis = 2000
