package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// AnnouncerOptions sets up an [Announcer]. With nothing but an Origin it publishes dead letters and no events.
type AnnouncerOptions struct {
	// Prefix begins every subject; it may have several tokens. "" is "carillon".
	Prefix string

	// Origin distinguishes the data whose changes are announced from that of other installations, also from a backup of it
	// that was restored: positions in two logs are the same numbers. It begins the message ids, and stays the same
	// for as long as the data is continued, whichever node announces. It is a token of letters, digits, - and _, and
	// must be set.
	Origin string
	// Events sets up the stream of events.
	Events EventOptions
}

// EventOptions sets up the stream of events. All but Enabled and Stream matters only when the
// stream is made: one that is there already is used as it is.
type EventOptions struct {
	// Enabled publishes events. Without it they count as handed over, and no stream is made.
	Enabled bool

	// Stream is the name of the stream. "" is "CARILLON_EVENTS".
	Stream string

	// MaxAge is how long events are kept. 0 is 7 days, at least 1 second.
	MaxAge time.Duration

	// MaxBytes bounds the stream; the oldest events go first. The server sets the space aside.
	// 0 is 1 GiB.
	MaxBytes int64
}

func (o AnnouncerOptions) withDefaults() AnnouncerOptions {
	o.Prefix = cmp.Or(o.Prefix, "carillon")
	o.Events.Stream = cmp.Or(o.Events.Stream, "CARILLON_EVENTS")
	o.Events.MaxAge = cmp.Or(o.Events.MaxAge, 7*24*time.Hour)
	o.Events.MaxBytes = cmp.Or(o.Events.MaxBytes, 1<<30)
	return o
}

func (o AnnouncerOptions) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("dispatch: "+format, args...)) }
	for token := range strings.SplitSeq(o.Prefix, ".") {
		if token == "" || strings.ContainsAny(token, "*> \t\r\n") {
			bad("Prefix is %q; want tokens without wildcards, joined by dots", o.Prefix)
			break
		}
	}
	if err := job.ValidateTenant(o.Origin); err != nil {
		bad("Origin is %q; want 1 to %d letters, digits, - and _", o.Origin, job.TenantBytesMax)
	}
	if strings.ContainsAny(o.Events.Stream, ".*>/\\ \t\r\n") {
		bad("Events.Stream is %q; want a name without dots, wildcards, slashes and spaces", o.Events.Stream)
	}
	if o.Events.MaxAge < time.Second {
		bad("Events.MaxAge is %s; want at least 1s", o.Events.MaxAge)
	}
	if o.Events.MaxBytes < 1 {
		bad("Events.MaxBytes is %d; want at least 1", o.Events.MaxBytes)
	}
	return errors.Join(errs...)
}
