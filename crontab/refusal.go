package crontab

import (
	"errors"
	"fmt"
)

// ErrNoUser is the Reason of a Refusal of Reader.Read: with Reader.System, a line has a schedule and fewer than two words
// after it. A user's own crontab looks like that: read it without System.
var ErrNoUser = errors.New("wants a user and a command after the schedule, as a system crontab has")

// Refusal is a line that cannot be used, and why. It is an error, whose text does not repeat the line and its number,
// since the caller shows these in its own form.
type Refusal struct {
	Line   int    // counted from 1
	Text   string // the line without its end, unchanged: it may hold control characters and invalid UTF-8
	Reason error  // what is wrong: ErrNoUser, an error of Reader.Check, or another of this package
	Want   string // what would be right; "": Reason says it
}

// Error returns the reason and what would be right, such as "has a schedule and no command".
func (r *Refusal) Error() string {
	if r.Want == "" {
		return r.Reason.Error()
	}
	return r.Reason.Error() + "; " + r.Want
}

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Reason }

// refuse returns a refusal with a reason of this package. Read adds the line. Reason and want are predicates and wishes
// without a subject, so that they can follow the place of the line.
func refuse(reason, want string) *Refusal { return &Refusal{Reason: errors.New(reason), Want: want} }

// refusef is refuse with a formatted reason.
func refusef(want, reason string, args ...any) *Refusal {
	return &Refusal{Reason: fmt.Errorf(reason, args...), Want: want}
}
