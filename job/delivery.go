package job

import "time"

// Delivery is one attempt with all that a sender needs. It must not be changed after it was handed over; the sender
// may read its slices until it has called done. Run and Attempt name it, and Fence orders it among all attempts of
// the run: a target that remembers the highest fence it has seen can refuse a late older attempt.
type Delivery struct {
	Run         RunID
	Tenant      string
	Name        string
	Target      Target
	Payload     []byte
	PayloadJSON bool
	Headers     []Pair
	// SecretHeaders are headers with references in place of values; the sender resolves them.
	SecretHeaders []Pair
	Attempt       uint32
	Fence         uint64
	Timeout       time.Duration // bound of the attempt's duration, from its launch
	Origin        TraceContext  // the span that registered the job; zero if none
	Awaited       bool          // another run may wait for the end of this one
	Gate          *Gate         // whether it may leave; nil: it may
}

// Outcome is how an attempt ended. A Delivery has exactly one, whether the sender made it or the attempt was never
// launched.
type Outcome struct {
	Run        RunID
	Attempt    uint32
	LaunchedAt time.Time     // when the sender began; zero if it never did
	Duration   time.Duration // from then to the end, on the monotonic clock
	Error      string        // "" means success; otherwise at most ErrorBytesMax bytes of valid UTF-8
	Refused    bool          // with Error: the target blames the request, so that another attempt would fail in the same way
	Died       Reason        // with Error, not zero: no attempt follows whatever the retry policy says, for this reason
	RetryAfter time.Duration // with Error: the target asks for a pause of this length; 0 means no wish
	Result     string        // with success: what a worker reported; at most ResultBytesMax bytes
	Skipped    Reason        // not zero: the attempt was never launched, for this reason
	Cancelled  Reason        // not zero: the run ends whatever its attempt does, for this reason; Attempt is 0 if none has been launched

	// What the launch waited for after it was due. Zero means that it did not wait.
	Turn   time.Duration // for the turn of its job
	TurnAt time.Time     // when it got the turn; zero if it did not wait for it
	Place  time.Duration // for a place at its target, until LaunchedAt or just before
}
