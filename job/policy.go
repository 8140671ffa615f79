package job

import "github.com/carillon-io/carillon/apierr"

// TargetKind names a kind of sender.
type TargetKind uint8

// The kinds of target. Zero is no kind.
const (
	TargetNATS TargetKind = iota + 1
	TargetRequest
	TargetJetStream
	TargetHTTP
	TargetHandler
)

// IsPublished reports whether an attempt ends when NATS has the message: no target answers it.
func (k TargetKind) IsPublished() bool { return k == TargetNATS || k == TargetJetStream }

// Completion says when an attempt counts as successful. It decides what the end of a delivery means, and so whether
// the run stays live after it.
type Completion uint8

// The completions. Zero is none.
const (
	CompletionDelivered Completion = iota + 1 // the target accepted it
	CompletionReported                        // a worker reports success
)

// Overlap says what happens to a run that is due while an earlier run of its job is in progress.
type Overlap uint8

// The overlap policies. Zero is none.
const (
	OverlapAllow Overlap = iota + 1
	OverlapSkip
	OverlapBufferOne
	OverlapBufferAll
	OverlapCancelOther
)

// Missed says what happens to ticks that were not decided in time, because no engine led. It is about whole ticks. A
// run that was decided in time and launched late is not missed.
type Missed uint8

// The missed-run policies. Zero is none.
const (
	MissedSkip     Missed = iota + 1 // record them as skipped
	MissedFireOnce                   // fire the latest one inside the catch-up window
	MissedBackfill                   // fire the latest MaxCatchupRuns inside the catch-up window
)

// Status is the state of a run. Its value is stored.
//
// Invariant: the final states are those from StatusSucceeded on, which [Status.IsFinal] uses.
type Status uint8

// The states of a run; see the package comment for the transitions. Zero is none.
const (
	StatusPending Status = iota + 1
	StatusRunning
	StatusRetrying
	StatusSucceeded
	StatusFailed
	StatusDead
	StatusSkipped
	StatusCancelled
)

// IsFinal reports whether a run in this state is over.
func (s Status) IsFinal() bool { return s >= StatusSucceeded }

// Reason says why a run was skipped or cancelled, or why it is dead although its policy has attempts left. Its value is
// stored, and counted in a table of the size Reasons.
type Reason uint8

// The reasons. Zero is none.
const (
	ReasonOverlap    Reason = iota + 1 // an earlier run was in progress
	ReasonMissed                       // no engine led in time, and the policy skips missed runs
	ReasonPaused                       // the job was paused
	ReasonSuperseded                   // an update of the job dropped this tick
	ReasonDeleted                      // the job was deleted
	ReasonQuota                        // a bound was reached: too many runs of the job wait for their turn
	ReasonWindow                       // it was missed longer ago than the catch-up window
	ReasonRequested                    // a caller cancelled the run
	ReasonTarget                       // the tenant may not have the target

	// Reasons is the number of reasons, zero included, for tables of counts.
	Reasons = int(iota) + 1
)

var (
	targetKindNames = []string{"", "nats", "request", "jetstream", "http", "handler"}
	completionNames = []string{"", "delivered", "reported"}
	overlapNames    = []string{"", "allow", "skip", "buffer_one", "buffer_all", "cancel_other"}
	missedNames     = []string{"", "skip", "fire_once", "backfill"}
	statusNames     = []string{"", "pending", "running", "retrying", "succeeded", "failed", "dead", "skipped", "cancelled"}
	reasonNames     = []string{"", "overlap", "missed", "paused", "superseded", "deleted", "quota", "window", "requested", "target not allowed"}
)

func (k TargetKind) String() string { return nameOf(targetKindNames, uint8(k)) }
func (c Completion) String() string { return nameOf(completionNames, uint8(c)) }
func (o Overlap) String() string    { return nameOf(overlapNames, uint8(o)) }
func (m Missed) String() string     { return nameOf(missedNames, uint8(m)) }
func (s Status) String() string     { return nameOf(statusNames, uint8(s)) }
func (r Reason) String() string     { return nameOf(reasonNames, uint8(r)) }

// ParseTargetKind parses the API's word for a kind of target.
func ParseTargetKind(s string) (TargetKind, error) {
	return parseName[TargetKind](targetKindNames, s, apierr.InvalidTarget, "target.kind")
}

// ParseCompletion parses the API's word for a completion.
func ParseCompletion(s string) (Completion, error) {
	return parseName[Completion](completionNames, s, apierr.InvalidField, "completion")
}

// ParseOverlap parses the API's word for an overlap policy.
func ParseOverlap(s string) (Overlap, error) {
	return parseName[Overlap](overlapNames, s, apierr.InvalidField, "overlap_policy")
}

// ParseMissed parses the API's word for a missed-run policy.
func ParseMissed(s string) (Missed, error) {
	return parseName[Missed](missedNames, s, apierr.InvalidField, "missed_run_policy")
}

// ParseStatus parses the API's word for the state of a run.
func ParseStatus(s string) (Status, error) {
	return parseName[Status](statusNames, s, apierr.InvalidField, "status")
}

// nameOf returns the word at an index. A value that a later release stored is shown as "unknown" and is no panic.
func nameOf(names []string, v uint8) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "unknown"
}

// parseName returns the value whose number is the index of a word. The empty word at index 0 is never a match, because
// zero is no value of these types.
func parseName[T ~uint8](names []string, s string, code apierr.Code, field string) (T, error) {
	for i, name := range names {
		if i > 0 && name == s {
			return T(i), nil
		}
	}
	return 0, apierr.Errorf(code, field, "%q is unknown; want one of %s", apierr.Clip(s), joinNames(names[1:]))
}

func joinNames(names []string) string {
	out := names[0]
	for _, n := range names[1:] {
		out += ", " + n
	}
	return out
}
