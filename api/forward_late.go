package api

import (
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/inbox"
)

// A node that passes a change on tells its caller, when the leader has fallen silent, that the outcome is unknown, so the caller
// reads before it asks again. That read must be the truth: a change that NATS or a link has held back may not be carried out after
// it. So the node names the instant up to which it waits in any case, by the leader's own clock, which the beats show; and the
// leader refuses a change that it gets later.

const (
	untilHeader = "Carillon-Until" // request: milliseconds since 1970 by the clock of the process that is asked
	lateHeader  = "Carillon-Late"  // reply: the request was refused because it came later than that
)

// errLate is the refusal of a change that came too late. Nothing has changed.
var errLate = errors.New("the request came too late")

// sayUntil adds to the headers of a request, or of the last part of its body, until when it may be begun.
func sayUntil(h nats.Header, until func() time.Time) {
	if until == nil {
		return
	}
	if end := until(); !end.IsZero() {
		h[untilHeader] = []string{strconv.FormatInt(end.UnixMilli(), 10)}
	}
}

// inTime refuses a request of which a message came later than the other node waits for it. An older release says nothing of that.
func (q *forwardedRequest) inTime(m *inbox.Request) error {
	values := valuesOf(m.Header, untilHeader)
	if len(values) == 0 {
		return nil
	}
	until, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || len(values) > 1 {
		return apierr.Errorf(apierr.InvalidField, untilHeader, "is not what a node sends; want the same release on all nodes")
	}
	if late := time.Since(time.UnixMilli(until)); late > 0 {
		q.isLate = true
		return apierr.Errorf(apierr.Unavailable, "", "the request came %s later than the node that passed it on waits for it; nothing has changed, ask again", late.Round(time.Millisecond))
	}
	return nil
}
