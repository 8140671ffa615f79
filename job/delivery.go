package job

import "time"

// Delivery is one attempt, ready to go: all that a sender needs. Nobody changes one after it is handed
// over; the slices are the sender's to read until it has told the outcome.
type Delivery struct {
	Run         RunID
	Tenant      string
	Name        string
	Target      Target
	Payload     []byte
	PayloadJSON bool
	Headers     []Pair
	Attempt     uint32
	Fence       uint64
	Timeout     time.Duration // how long the attempt may take, from its launch
	Origin      TraceContext  // the span that registered the job; may be none
}

// Outcome is how an attempt ended.
type Outcome struct {
	Run        RunID
	Attempt    uint32
	LaunchedAt time.Time     // when the sender began; zero if it never did
	Duration   time.Duration // from then to the end, on the monotonic clock
	Error      string        // "" is success; else at most ErrorBytesMax bytes, valid UTF-8
	Refused    bool          // with Error: the target blames the request, so another attempt would fail alike
	RetryAfter time.Duration // with Error: the target asks to be left alone for so long; 0 is no wish
	Result     string        // with success: what a worker reported; at most ResultBytesMax bytes
	Skipped    Reason        // not zero: never launched, for this reason
	Cancelled  Reason        // not zero: the run is to end whatever its attempt does, for this reason

	// What the launch waited for after its time had come. Zero is nothing.
	Turn   time.Duration // for the turn of its job
	TurnAt time.Time     // when it got that turn; zero if it did not wait for it
	Place  time.Duration // for a place at its target, until LaunchedAt or just before
}
