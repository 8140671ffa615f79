package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// AnnouncerOptions configures an [Announcer]. Only Origin is required; then the announcer publishes dead
// letters and no events.
type AnnouncerOptions struct {
	// Prefix begins every subject; it may have several tokens. "" is "carillon".
	Prefix string

	// Origin identifies the data whose changes are announced. It differs between installations, and between an
	// installation and a restored backup of it: LSNs in different logs are equal numbers, so without Origin their
	// events would have equal message ids. Message ids begin with it. It stays the same on every node and for the
	// whole life of the data. It is a token of letters, digits, - and _, and must be set.
	Origin string
	// Events configures the stream of events.
	Events EventOptions
}

// EventOptions configures the stream of events. MaxAge and MaxBytes matter only when the announcer
// creates the stream: it uses an existing one without changes.
type EventOptions struct {
	// Enabled says that events are published. Without it, events count as handed over at once, and no stream
	// is made.
	Enabled bool

	// Stream is the name of the stream. "" is "CARILLON_EVENTS".
	Stream string

	// MaxAge is how long the stream keeps events. 0 means 7 days; the minimum is 1 second.
	MaxAge time.Duration

	// MaxBytes bounds the stream, in bytes; at the bound the stream drops the oldest events. The server
	// reserves this space. 0 means 1 GiB.
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
