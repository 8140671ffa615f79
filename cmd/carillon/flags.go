package main

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// span is a flag for a duration in the syntax of the API, which has days: 90s, 1h30m, 7d, 1d12h. The parser of the
// client is used, so that a flag takes what the API takes.
type span time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *span) UnmarshalText(text []byte) error {
	d, err := client.ParseDuration(string(text))
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "client: "))
	}
	*s = span(d)
	return nil
}

// timeFlag is a flag for a time: RFC 3339, or a day, which means its midnight in UTC. The zero value is no time: the
// flag was not given.
type timeFlag struct{ client.Time }

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *timeFlag) UnmarshalText(text []byte) error {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, string(text)); err == nil {
			i.Time = client.At(t)
			return nil
		}
	}
	return fmt.Errorf("%q is no time; want RFC 3339 such as 2026-12-01T08:00:00Z, or a day such as 2026-12-01", clip(string(text)))
}

// days is a flag for a number of days: 90 or 90d. 0 is refused. The upper bound of a hundred years keeps a sum with
// an instant from overflowing.
type days int

// daysMax is the largest value of days.
const daysMax = 36_500

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *days) UnmarshalText(text []byte) error {
	digits := strings.TrimSuffix(string(text), "d")
	n, err := strconv.Atoi(digits)
	switch isWhole := wholeNumber.MatchString(digits); {
	case isWhole && (errors.Is(err, strconv.ErrRange) || n > daysMax):
		return fmt.Errorf("%q is more than a hundred years; want at most %dd", clip(string(text)), daysMax)
	case err != nil || !isWhole || n < 1:
		return fmt.Errorf("%q is no number of days; want one such as 90d", clip(string(text)))
	}
	*d = days(n)
	return nil
}

// callerName is a flag for the name of the caller in the audit log, of which a server takes no other.
type callerName string

// UnmarshalText implements encoding.TextUnmarshaler.
func (n *callerName) UnmarshalText(text []byte) error {
	if (job.Actor{By: string(text)}).Validate() != nil {
		return fmt.Errorf("%q is no name of a caller; want at most %d bytes of UTF-8 without control characters", clip(string(text)), job.ActorBytesMax)
	}
	*n = callerName(text)
	return nil
}

// setPath sets a flag of the type path, which names a file or a directory. An empty one is refused: kong would take it for
// the present directory, and a variable that is set to nothing by mistake, such as CARILLON_AUTH, must not mean "none".
func setPath(ctx *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := ctx.Scan.PopValueInto("file", &path); err != nil {
		return err
	}
	if path == "" {
		return errors.New("it is empty; want the name of a file, or leave it out (unset the variable)")
	}
	target.SetString(kong.ExpandPath(path))
	return nil
}
