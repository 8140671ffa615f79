package schedule

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/carillon-io/carillon/instant"
)

// TestScheduleScripts plays the stories of testdata. One command is one schedule:
//
//	ticks zone=America/New_York after=2026-03-07T12:00:00Z n=3 [anchor=…] [starts=…] [ends=…]
//	30 2 * * *
//	exclude 2026-03-09
//
// Several lines are several expressions; those that begin with "exclude" are left out.
// It prints each tick in UTC and as the wall clock shows it, then the notes of the preview. Run with
// -rewrite to take what comes as what should come; then read the difference.
func TestScheduleScripts(t *testing.T) {
	for _, file := range []string{"dst", "syntax", "days", "exclude"} {
		t.Run(file, func(t *testing.T) {
			datadriven.RunTest(t, "testdata/"+file+".txt", func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd != "ticks" {
					d.Fatalf(t, "unknown command %q", d.Cmd)
				}
				return playTicks(t, d)
			})
		})
	}
}

// specOf takes expressions and exclusions apart.
func specOf(input string) Spec {
	var exprs, excludes []string
	for line := range strings.SplitSeq(input, "\n") {
		if exclude, ok := strings.CutPrefix(line, "exclude "); ok {
			excludes = append(excludes, exclude)
		} else {
			exprs = append(exprs, line)
		}
	}
	return Spec{Expr: strings.Join(exprs, "\n"), Exclude: strings.Join(excludes, "\n")}
}

func playTicks(t *testing.T, d *datadriven.TestData) string {
	spec := specOf(d.Input)
	var after, anchor instant.Millis
	n := 3
	for _, arg := range d.CmdArgs {
		value := arg.SingleVal(t)
		switch arg.Key {
		case "zone":
			spec.Zone = value
		case "after":
			after = rfc3339(t, value)
		case "anchor":
			anchor = rfc3339(t, value)
		case "starts":
			spec.StartsAt = rfc3339(t, value)
		case "ends":
			spec.EndsAt = rfc3339(t, value)
		case "n":
			fmt.Sscan(value, &n)
		default:
			d.Fatalf(t, "unknown argument %q", arg.Key)
		}
	}
	s, err := Parse(spec)
	if err != nil {
		return err.Error() + "\n"
	}
	loc, err := EmbeddedZones().Location(s.Spec().Zone)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	times, notes, _ := s.Preview(t.Context(), after, anchor, n)
	var b strings.Builder
	for _, tick := range times {
		fmt.Fprintf(&b, "%s  %s\n", tick, tick.Time().In(loc).Format("Mon 2006-01-02 15:04:05 MST"))
	}
	if len(times) == 0 {
		b.WriteString("no tick\n")
	}
	for _, note := range notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}
