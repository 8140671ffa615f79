package history

import "time"

// History is everything that was recorded of one server, or of one cluster. It is plain data without locks: the
// recorder owns the one that grows, and the checks read a snapshot.
type History struct {
	Ops        []Op       // in the order of their numbers
	Deliveries []Delivery // in the order of arrival at each target
	Deaths     []Death    // in order
	Starts     []Start    // in order
	Readings   []Reading  // in order
	Surprises  []string   // failures that concern no job: a start that failed, a process that died
	Final      *Final     // nil until the final read

	// Cluster says that the server consists of several processes. Then Faults replaces Deaths: the server
	// survives the death of a process.
	Cluster bool
	Faults  []Fault // in order

	// Shards is how many shards the cluster has; 0 is 1. The shard of a job follows from its name, see ShardOf. Each
	// shard has epochs and LSNs of its own.
	Shards int

	// Begun has, by shard, the LSN of the first commit of each epoch, read from the logs of a cluster during the run;
	// the logs at the end may not reach back so far.
	Begun map[int]map[uint64]uint64

	// Lossy has the targets that may lose a message without a fault of the server: with embedded NATS, a
	// plain publish before the sink is connected again has no subscriber.
	Lossy map[string]bool
}

// OpKind is the kind of a client's request.
type OpKind string

// The kinds of request.
const (
	// They are the words of the report, and mostly those of the verbs.
	opPut     OpKind = "put"
	opDelete  OpKind = "delete"
	opPause   OpKind = "pause"
	opResume  OpKind = "resume"
	opTrigger OpKind = "trigger"
	opGet     OpKind = "get"
)

// Outcome is what a client knows about the effect of its request.
type Outcome string

// The outcomes.
const (
	// In a finished history it counts as unknown: the run ended before the reply came.
	pending Outcome = "pending" // not returned yet
	acked   Outcome = "acked"   // done, says the server
	refused Outcome = "refused" // the server says that it did nothing, or no server received the request
	unknown Outcome = "unknown" // done or not: there was no answer
)

// Op is one request about one job. A bulk registration is one Op for each of its jobs. The times are taken before the
// request leaves and after its reply has arrived, so the effect lies between them, if there is one.
type Op struct {
	ID       int // number in the order of invocation over all clients, from 1; the mark in the payload of a put
	Kind     OpKind
	Job      string
	Spec     *Spec  // the definition of a put
	Key      string // idempotency key of a trigger; "" if it has none
	Invoked  Instant
	Returned Instant // 0 while pending
	// Outcome is final once Returned is set.
	Outcome Outcome
	Code    string // code of a refusal, or the error if the outcome is unknown
	Version int    // version of the job in the reply to a put, pause, resume or get
	RunID   string // run id in the reply to a trigger
	// Seen is the job in the reply to a get; nil for any other.
	Seen *JobState
}

// JobState is a job as a reply of the server shows it. It has only what the checks compare.
type JobState struct {
	Mark    int // mark of the definition: the number of its put
	Paused  bool
	Status  string // active, paused, completed, failed
	Version int
}

// Delivery is one arrival at a target. Zero fields are headers that were missing or not valid.
type Delivery struct {
	Target    string // kind of the target
	Job       string
	RunID     string
	Mark      int // mark in the payload: the number of the put or of the trigger
	Scheduled Instant
	Arrived   Instant
	Attempt   int
	// In a cluster it is the evidence for the leadership that launched it.
	Fence   uint64
	Refused bool // the sink answered with an error
}

// Death is the end of a process. Whatever arrives between the two instants may come from before the signal or from the
// last moments of the process.
type Death struct {
	Sent  Instant // when the signal was sent
	Gone  Instant // when the process had ended
	Clean bool    // by SIGTERM, so that it could finish its work
}

// Start is a start that succeeded.
type Start struct {
	Began Instant
	// Ready is when the ready line was read, or a new leader was found.
	Ready Instant
	Epoch uint64
	Shard int // of which a leader was found
}

// Reading is the server's position at an instant, from its status. It is taken before a death and after a start, so a
// log that lost its durable end shows in two neighbouring readings.
type Reading struct {
	At    Instant
	LSN   uint64 // of the newest durable commit
	Shard int
}

// Final is the state of the server after the run. It is read when the load has ended and what is due has had time to
// end.
type Final struct {
	At      Instant // when the final read began
	Horizon Instant // runs due before this instant must have ended
	// Jobs and Runs are by the name of the job. A job that was deleted has no entry in either.
	Jobs map[string]JobState
	Runs map[string][]Run
	Log  string // the complaint of `wal verify`; "" if the log is intact
	Logs []Log  // logs of all nodes of a cluster
}

// Run is a run as runs.list shows it. It is decoded from the API's reply with the members that a check compares.
type Run struct {
	ID        string
	Scheduled Instant
	Until     Instant // last tick of a skipped range; 0 otherwise
	// Status and Reason are the API's words.
	Status  string
	Reason  string
	Attempt int
	Manual  bool
	Error   string
}

// isFinal reports whether the status of the run cannot change any more.
func (r Run) isFinal() bool {
	switch r.Status {
	case "succeeded", "failed", "dead", "skipped", "cancelled":
		return true
	}
	return false
}

// settled returns the instant from which an op can no longer take effect: it was answered, or every process that can
// have received it has died or has given up. For a request without an answer that is the death after it; a request
// that no death follows stays open to the end.
func (h *History) settled(op *Op) Instant {
	switch {
	case op.Outcome == acked || op.Outcome == refused:
		return op.Returned
	case h.Cluster:
		return h.forgotten(op)
	}
	for _, d := range h.Deaths {
		if d.Gone >= op.Invoked {
			return d.Gone
		}
	}
	return never
}

// inFlightWindow is the longest time after a delivery in which a kill can prevent the server from recording its
// outcome. A larger value would excuse duplicates that have another cause.
const inFlightWindow = time.Second

// wireWindow is how long a message of a process may be in transit through NATS after the process has
// ended. The start of a new process takes longer. Without it, the last messages of a process would arrive after its
// death and count as duplicates without a reason.
const wireWindow = 20 * time.Millisecond

// interrupted reports whether the server was killed before the instant before, and so soon after arrived that the
// outcome of the delivery may not have been recorded. A clean end does not count, because a server that is stopped
// with SIGTERM must record the outcomes of what it launched.
func (h *History) interrupted(arrived, before Instant) bool {
	for _, d := range h.Deaths {
		if !d.Clean && d.Gone.Add(wireWindow) >= arrived && d.Sent <= arrived.Add(inFlightWindow) && d.Sent <= before {
			return true
		}
	}
	return h.disturbed(arrived, before)
}
