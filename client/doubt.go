package client

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// errDoubt is in the Cause of an [Error] if a request was sent several times, and an earlier try may have taken effect.
var errDoubt = errors.New("an earlier try may have taken effect")

// unchanged is in the message of a server's refusal of a request that has had no effect.
const unchanged = "nothing has changed"

// inDoubt returns the error of a request whose last try got err, and of which an earlier one may have taken effect; earlier is
// what that one got, or nil if no try may have taken effect. A refusal speaks of its own try alone, so the outcome of the request
// is unknown. A refusal for the moment becomes [CodeUnavailable], as its own code may say that nothing has changed; any other
// keeps its code.
func inDoubt(err, earlier error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || earlier == nil || isDoubtful(e) {
		return err
	}
	told := *e
	if IsUnavailable(e) {
		told.Code, told.Status = CodeUnavailable, http.StatusServiceUnavailable
	}
	told.Message = "whether the request took effect is unknown; the answer to its repetition: " + e.Message
	told.Cause = fmt.Errorf("%w: %w", errDoubt, reasonOf(earlier))
	if e.Cause != nil {
		told.Cause = fmt.Errorf("%w; the last try: %w", told.Cause, e.Cause)
	}
	return &told
}

// reasonOf returns why the outcome of a try is unknown. It has no [Code], so that errors.Is finds the code of the last try alone.
func reasonOf(err error) error {
	e, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return err
	case e.Cause != nil:
		return e.Cause
	}
	return errors.New(e.Message)
}

// isDoubtful reports whether an error says that an earlier try may have taken effect.
func isDoubtful(e *Error) bool { return errors.Is(e.Cause, errDoubt) }

// saysUnchanged reports whether an error says that its try has had no effect.
func saysUnchanged(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Cause == nil && strings.Contains(e.Message, unchanged)
}

// doubtOfResult returns the refusal of a job if the job may be registered nevertheless; nil if it is not, because the refusal is
// final or says that nothing has changed.
func doubtOfResult(e *Error) error {
	if isDoubtful(e) || e.Code == CodeUnavailable && !saysUnchanged(e) {
		return e
	}
	return nil
}

// doubtResults tells in each refusal that an earlier try of the request may have registered the job; earlier as for [inDoubt].
func (r *PutManyReply) doubtResults(earlier error) {
	for i := range r.Results {
		r.Results[i].doubt(earlier)
	}
}

// doubt is doubtResults for one job.
func (r *PutResult) doubt(earlier error) {
	if r.Error == nil || earlier == nil {
		return
	}
	r.Error, _ = errors.AsType[*Error](inDoubt(r.Error, earlier))
}
