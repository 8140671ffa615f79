package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
)

// AnnouncerOptions sets up an [Announcer]. The zero value publishes dead letters and no events.
type AnnouncerOptions struct {
	// Prefix begins every subject; it may have several tokens. "" is "carillon".
	Prefix string

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
