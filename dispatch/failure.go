package dispatch

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// ErrStopped is the failure of an attempt that Close ended. If the [job.Outcome] has a zero LaunchedAt,
// the attempt was never sent; otherwise it may have arrived.
var ErrStopped = errors.New("stopped")

// ErrCancelled is the failure of an attempt that Cancel ended. As with [ErrStopped], an attempt with a
// LaunchedAt may have arrived.
var ErrCancelled = errors.New("cancelled")

// Failure is an error that says, besides its text, whether and when another attempt makes sense. The
// senders of this package return it, and a [Handler] may. The dispatcher finds it with [errors.As], so
// it may be wrapped; of several, the outermost counts. [Refuse] and [RetryAfter] make one.
type Failure struct {
	Err error // the cause; its text is the error of the outcome

	// Refused says that the request is at fault, so that another attempt would fail in the same way. The
	// run is then retried only if its job says so.
	Refused bool

	// RetryAfter is the pause before the next attempt that the target asks for. 0 asks for none; a negative
	// value counts as 0, and one above job.RetryAfterMax as job.RetryAfterMax.
	RetryAfter time.Duration

	died job.Reason // not zero: no attempt follows, for this reason
}

// Error implements error with the text of Err.
func (f *Failure) Error() string {
	if f.Err == nil {
		return ""
	}
	return f.Err.Error()
}

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

// Refuse returns err as a [Failure] that is refused: with it a handler says that it will never accept
// this run. It keeps the text of err and its RetryAfter. Refuse(nil) returns nil.
func Refuse(err error) error {
	if err == nil {
		return nil
	}
	f := failureOf(err)
	f.Refused = true
	return &f
}

// RetryAfter returns err as a [Failure] that asks for a pause of d. The next attempt comes no earlier,
// and later if the job's own retry policy says so. It keeps the text of err and its Refused.
// RetryAfter(nil, d) returns nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	f := failureOf(err)
	f.RetryAfter = d
	return &f
}

// bar returns err as a [Failure] of a target that the tenant may not have: no attempt follows.
func bar(err error) error {
	f := failureOf(fmt.Errorf("%s: %w", job.ReasonTarget, err))
	f.Refused, f.died = true, job.ReasonTarget
	return &f
}

// failureOf returns the outermost Failure in err, or a plain one, with err as its Err.
func failureOf(err error) Failure {
	f := Failure{Err: err}
	if inner, ok := errors.AsType[*Failure](err); ok {
		f.Refused, f.RetryAfter, f.died = inner.Refused, inner.RetryAfter, inner.died
	}
	return f
}

// outcomeOf returns the outcome for the error that ended an attempt; nil is success. Every error becomes
// an outcome here and only here, so that no text of an outcome contains a credential of the job.
func outcomeOf(d *job.Delivery, err error) job.Outcome {
	if err == nil {
		return job.Outcome{}
	}
	f := failureOf(err)
	return job.Outcome{
		Error:      failureText(d, err),
		Refused:    f.Refused,
		Died:       f.died,
		RetryAfter: min(max(f.RetryAfter, 0), job.RetryAfterMax),
	}
}

// failureReadMax bounds the part of an error's text that is searched for credentials, in bytes. The rest is
// dropped. The text of a handler's or a service's error has no bound of its own.
const failureReadMax = 8 << 10

// failureText returns the text of an error for [job.Outcome]. It masks credentials before it cuts the
// text, because half a credential is a secret too.
func failureText(d *job.Delivery, err error) string {
	text := err.Error()
	isCut := len(text) > failureReadMax
	if isCut {
		text = text[:failureReadMax]
	}
	if text == "" {
		return "failed without a reason"
	}
	text = job.CredentialsOf(d.Headers, d.Target).MaskInCut(text, isCut)
	return clipText(strings.ToValidUTF8(text, "�"), job.ErrorBytesMax)
}

// clipText cuts a text to at most most bytes, and marks a text that was cut.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:most-len(more)], "") + more
}
