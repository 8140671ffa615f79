package client

import (
	"fmt"
	"time"
)

// Time is an instant in the notation of the API: RFC 3339 in UTC with milliseconds, or null. The zero
// value means no time and is written as null.
type Time struct{ time.Time }

// At returns t as a Time, rounded up to the millisecond: rounding down could make a run early.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	ms := t.UTC().Truncate(time.Millisecond)
	if ms.Before(t) {
		ms = ms.Add(time.Millisecond)
	}
	return Time{ms}
}

// Schedule returns the schedule of a job that runs once, at t: "@at" and the instant.
func (t Time) Schedule() string { return "@at " + t.String() }

// In returns the schedule of a job that runs once, d after the server has accepted it, by the server's clock: "@in" and
// the time, of 0 to about ten years. The server keeps it as the "@at" that it is then. Put such a job with
// [Client.PutIfVersion] and the version 0: a repeated put is refused then, and the first instant stays, while a repeated
// [Client.Put] counts anew and moves it.
func In(d time.Duration) string { return "@in " + d.String() }

// timeLayout always has milliseconds, so that times of the API are of one length and sort as texts.
const timeLayout = "2006-01-02T15:04:05.000Z"

// String returns the instant in the notation of the API; "" for the zero value.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return At(t.Time).Format(timeLayout)
}

// MarshalJSON implements [encoding/json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	b := make([]byte, 0, len(timeLayout)+2)
	b = append(b, '"')
	b = At(t.Time).AppendFormat(b, timeLayout)
	return append(b, '"'), nil
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Time{}
		return nil
	}
	if len(b) < 2 || b[0] != '"' {
		return fmt.Errorf("client: %q is not a time; want RFC 3339, such as 2026-12-01T08:00:00Z", clip(string(b)))
	}
	if err := t.Time.UnmarshalText(b[1 : len(b)-1]); err != nil {
		return fmt.Errorf("client: %q is not a time; want RFC 3339: %w", clip(string(b)), err)
	}
	*t = At(t.Time)
	return nil
}
