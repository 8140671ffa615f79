package history

import "time"

// History is everything that was seen of one server, or one cluster, over its lives.
type History struct {
	Ops        []Op       // in the order of their numbers
	Deliveries []Delivery // in the order of their arrival, per target
	Deaths     []Death    // in order
	Starts     []Start    // in order
	Readings   []Reading  // in order
	Surprises  []string   // what went wrong outside any job: a start that failed, a process that died
	Final      *Final     // nil before the end

	// Cluster tells that several processes make up the server. Faults takes the place of Deaths then: the
	// death of a process is not that of the server.
	Cluster bool
	Faults  []Fault // in order

	// Lossy names the targets that may lose a message through no fault of the server: with NATS
	// embedded, a plain publish before the sink is connected again reaches nobody.
	Lossy map[string]bool
}

// OpKind is what a client asked for.
type OpKind string

// The kinds of request.
const (
	opPut     OpKind = "put"
	opDelete  OpKind = "delete"
	opPause   OpKind = "pause"
	opResume  OpKind = "resume"
	opTrigger OpKind = "trigger"
	opGet     OpKind = "get"
)

// Outcome is what a client knows of its request.
type Outcome string

// The outcomes.
const (
	pending Outcome = "pending" // not returned yet
	acked   Outcome = "acked"   // done, says the server
	refused Outcome = "refused" // nothing was done, says the server; or nobody was there to do it
	unknown Outcome = "unknown" // done or not: there was no answer
)

// Op is one request about one job. A bulk registration is one Op for each of its jobs.
type Op struct {
	ID       int // order of invocation over all clients, from 1; a put carries it in the payload, as mark
	Kind     OpKind
	Job      string
	Spec     *Spec  // of a put
	Key      string // idempotency key of a trigger; "" is none
	Invoked  Instant
	Returned Instant // 0 while pending
	Outcome  Outcome
	Code     string // of a refusal; what went wrong, if unknown
	Version  int    // of the job, in the reply of a put, pause, resume or get
	RunID    string // in the reply of a trigger
	Seen     *JobState
}

// JobState is a job as a reply of the server shows it.
type JobState struct {
	Mark    int // of the definition: the number of the put that it is from
	Paused  bool
	Status  string // active, paused, completed, failed
	Version int
}

// Delivery is one arrival at a target.
type Delivery struct {
	Target    string // kind of the target
	Job       string
	RunID     string
	Mark      int // of the definition that was delivered, or of the trigger
	Scheduled Instant
	Arrived   Instant
	Attempt   int
	Fence     uint64
	Refused   bool // the sink answered with an error
}

// Death is the end of a process.
type Death struct {
	Sent  Instant // when the signal was sent
	Gone  Instant // when the process was gone
	Clean bool    // SIGTERM: it had time to finish its work
}

// Start is a start that succeeded.
type Start struct {
	Began Instant
	Ready Instant
	Epoch uint64
}

// Reading is the server's position at some time, as its status tells.
type Reading struct {
	At  Instant
	LSN uint64 // of the newest durable commit
}

// Final is what the server said of itself when all was over.
type Final struct {
	At      Instant // when the read began
	Horizon Instant // runs that were due before it had the time to end
	Jobs    map[string]JobState
	Runs    map[string][]Run
	Log     string // what `wal verify` had to complain about; "" if the log is intact
	Logs    []Log  // of each node of a cluster
}

// Run is a run as runs.list shows it.
type Run struct {
	ID        string
	Scheduled Instant
	Until     Instant // of a skipped range: the last tick in it; 0 otherwise
	Status    string
	Reason    string
	Attempt   int
	Manual    bool
	Error     string
}

// isFinal tells whether nothing more will happen to the run.
func (r Run) isFinal() bool {
	switch r.Status {
	case "succeeded", "failed", "dead", "skipped", "cancelled":
		return true
	}
	return false
}

// settled returns the moment after which an op can take no more effect: it was answered, or whoever
// could have seen it is gone or has given up.
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

// inFlightWindow is how long after a delivery a kill may come and still have caught the server before
// it recorded the outcome.
const inFlightWindow = time.Second

// wireWindow is how long what a process has sent may be on its way through NATS when the process is gone.
// A new process takes longer to come up.
const wireWindow = 20 * time.Millisecond

// interrupted tells whether the server was killed while a delivery that came at an instant may not
// have been recorded yet, and before a later instant.
func (h *History) interrupted(arrived, before Instant) bool {
	for _, d := range h.Deaths {
		if !d.Clean && d.Gone.Add(wireWindow) >= arrived && d.Sent <= arrived.Add(inFlightWindow) && d.Sent <= before {
			return true
		}
	}
	return h.disturbed(arrived, before)
}
