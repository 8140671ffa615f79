package instant

import "time"

// Millis is an instant: milliseconds since the Unix epoch, in UTC. Zero means "none". All scheduled times are whole
// Millis; conversion from finer clocks states its rounding. It is also used for durations where those are stored or
// compared with instants; the places say so.
type Millis int64

// Max is the last instant that Carillon schedules: the end of the year 9999. RFC 3339 has four digits for the year,
// so a later one could not be shown.
const Max Millis = 253402300799999

// LongAgo is the due time of work that can be done at once, where zero means never.
const LongAgo Millis = 1

// Of returns t cut down to the millisecond: the clock never reads a time that has not come.
func Of(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Up returns t rounded up to the millisecond, so that a deadline never moves earlier.
func Up(t time.Time) Millis {
	ms := t.UnixMilli()
	if t.Nanosecond()%int(time.Millisecond) != 0 {
		ms++
	}
	return Millis(ms)
}

// MillisUp returns a duration in milliseconds, rounded up, so that what waits for it is never early.
func MillisUp(d time.Duration) Millis { return Millis((d + time.Millisecond - 1) / time.Millisecond) }

// Time returns the instant as a UTC time.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// Add returns the instant d later, d cut down to the millisecond.
func (m Millis) Add(d time.Duration) Millis { return m + Millis(d.Milliseconds()) }

// Sub returns the time from o to m.
func (m Millis) Sub(o Millis) time.Duration { return time.Duration(m-o) * time.Millisecond }

// timeLayout is RFC 3339 in UTC with milliseconds, the API's form of a time.
const timeLayout = "2006-01-02T15:04:05.000Z"

// String returns the instant as RFC 3339 in UTC with milliseconds; the zero value is "".
func (m Millis) String() string {
	if m == 0 {
		return ""
	}
	return string(m.Append(nil))
}

// Append appends the instant as RFC 3339 in UTC with milliseconds; the zero value is the epoch's
// beginning here.
func (m Millis) Append(b []byte) []byte { return m.Time().AppendFormat(b, timeLayout) }
