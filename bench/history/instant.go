package history

import (
	"fmt"
	"time"
)

// Instant is a time of the wall clock, in microseconds of Unix time. All recorders run on one machine, so instants of
// different recorders can be compared. 0 means no time. The wall clock is used, because scheduled times and the
// timestamps of streams are wall times; a clock that is set during a run makes the run useless.
type Instant int64

// never is later than every instant of a history.
const never = Instant(1<<63 - 1)

// Now returns the present instant.
func Now() Instant { return instantOf(time.Now()) }

// instantOf returns a time as an instant, rounded down to the microsecond.
func instantOf(t time.Time) Instant { return Instant(t.UnixMicro()) }

// parseInstant parses a time in the notation of the API. "" gives 0.
func parseInstant(text string) (Instant, error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, fmt.Errorf("%q is no RFC 3339 time: %w", text, err)
	}
	return instantOf(t), nil
}

// Add returns the instant that lies d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Microseconds()) }

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Microsecond }

// wire returns the instant in the notation of a schedule, rounded down to the millisecond.
func (i Instant) wire() string {
	return time.UnixMicro(int64(i)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// String returns the time of day, which is enough for a history of minutes.
func (i Instant) String() string {
	switch i {
	case 0:
		return "-"
	case never:
		return "never"
	}
	return time.UnixMicro(int64(i)).UTC().Format("15:04:05.000000")
}
