package dispatch

import (
	"errors"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// ErrStopped is the failure of an attempt that Close ended. An [job.Outcome] with its text and a zero
// LaunchedAt never left; with a LaunchedAt it may have arrived.
var ErrStopped = errors.New("stopped")

// ErrCancelled is the failure of an attempt that Cancel ended. As with [ErrStopped], one with a
// LaunchedAt may have arrived.
var ErrCancelled = errors.New("cancelled")

// Failure is an error that says, besides its text, what the target thinks of another attempt. The
// senders of this package return it, and a [Handler] may: it is found with [errors.As], however it is
// wrapped, and the outermost one counts. [Refuse] and [RetryAfter] make one.
type Failure struct {
	Err error // what went wrong; the text of the outcome

	// Refused says that the fault is with the request, so that another attempt would fail alike. The
	// run is then retried only if its job asks for that.
	Refused bool

	// RetryAfter is how long the target wants to be left alone. 0 is no wish, less counts as 0, more
	// than job.RetryAfterMax as that.
	RetryAfter time.Duration
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

// Refuse returns err as a [Failure] that is refused: a handler says so that it will never take this
// run. What err says of a retry stays, and so does its text. Without an error there is no failure:
// Refuse(nil) is nil.
func Refuse(err error) error {
	if err == nil {
		return nil
	}
	f := failureOf(err)
	f.Refused = true
	return &f
}

// RetryAfter returns err as a [Failure] whose target wants to be left alone for d. The retry comes no
// earlier, and later if the job's own policy says so. What err says of a refusal stays, and so
// does its text. Without an error there is no failure: RetryAfter(nil, d) is nil.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		return nil
	}
	f := failureOf(err)
	f.RetryAfter = d
	return &f
}

// failureOf returns what err says, with err as its cause.
func failureOf(err error) Failure {
	f := Failure{Err: err}
	if inner, ok := errors.AsType[*Failure](err); ok {
		f.Refused, f.RetryAfter = inner.Refused, inner.RetryAfter
	}
	return f
}

// outcomeOf is what the outcome of a delivery's attempt says of the error that ended it. It is the one place
// where an error becomes an outcome, and from where on its text has no credential of the job.
func outcomeOf(d *job.Delivery, err error) job.Outcome {
	if err == nil {
		return job.Outcome{}
	}
	f := failureOf(err)
	return job.Outcome{
		Error:      failureText(d, err),
		Refused:    f.Refused,
		RetryAfter: min(max(f.RetryAfter, 0), job.RetryAfterMax),
	}
}

// failureReadMax is how much of an error's text is looked at for credentials. The rest is dropped unseen.
const failureReadMax = 8 << 10

// failureText makes an error fit for [job.Outcome]. It masks before it cuts: half a credential is one too.
func failureText(d *job.Delivery, err error) string {
	text := err.Error()
	isCut := len(text) > failureReadMax
	if isCut {
		text = text[:failureReadMax]
	}
	if text = strings.ToValidUTF8(text, "�"); text == "" {
		return "failed without a reason"
	}
	return clipText(job.CredentialsOf(d.Headers, d.Target).MaskInCut(text, isCut), job.ErrorBytesMax)
}

// clipText cuts a text that has more than so many bytes, and shows that it did.
func clipText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:most-len(more)], "") + more
}
