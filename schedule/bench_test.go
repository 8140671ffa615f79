package schedule

import (
	"fmt"
	"strings"
	"testing"

	robfig "github.com/robfig/cron/v3"

	"github.com/carillon-io/carillon/instant"
)

var benchExprs = []string{"*/5 * * * *", "0 9 * * 1-5", "30 2 * * *", "59 59 23 31 12 *", "0 0 29 2 *", "@every 10s", "@at 2036-12-01T08:00:00Z"}

// benchAt is near no change of a clock.
const benchAt = instant.Millis(1_790_000_000_000)

func benchName(expr string) string {
	return strings.ReplaceAll(strings.ReplaceAll(expr, " ", "_"), "/", ":")
}

func BenchmarkScheduleNext(b *testing.B) {
	for _, zone := range []string{"UTC", "America/New_York"} {
		for _, expr := range benchExprs {
			s := mustSchedule(b, expr, zone)
			b.Run(fmt.Sprintf("impl=carillon/zone=%s/expr=%s", strings.ReplaceAll(zone, "/", ":"), benchName(expr)), func(b *testing.B) {
				for b.Loop() {
					s.Next(benchAt, 0)
				}
			})
			rival, err := robfig.NewParser(robfig.SecondOptional | robfig.Minute | robfig.Hour | robfig.Dom | robfig.Month | robfig.Dow).Parse(expr)
			if err != nil {
				continue
			}
			loc, err := EmbeddedZones().Location(zone)
			if err != nil {
				b.Fatal(err)
			}
			at := benchAt.Time().In(loc)
			rival.(*robfig.SpecSchedule).Location = loc
			b.Run(fmt.Sprintf("impl=robfig/zone=%s/expr=%s", strings.ReplaceAll(zone, "/", ":"), benchName(expr)), func(b *testing.B) {
				for b.Loop() {
					rival.Next(at)
				}
			})
		}
	}
}

// BenchmarkScheduleNextFarAhead asks beyond the table of changes that package time has.
func BenchmarkScheduleNextFarAhead(b *testing.B) {
	for _, expr := range []string{"*/5 * * * *", "0 9 * * 1-5"} {
		s := mustSchedule(b, expr, "America/New_York")
		b.Run("year=2050/expr="+benchName(expr), func(b *testing.B) {
			for b.Loop() {
				s.Next(2_540_000_000_000, 0)
			}
		})
	}
}

func BenchmarkScheduleLatest(b *testing.B) {
	for _, expr := range []string{"*/5 * * * *", "0 9 * * 1-5", "0 0 29 2 *", "@every 10s"} {
		s := mustSchedule(b, expr, "America/New_York")
		b.Run("span=1y/expr="+benchName(expr), func(b *testing.B) {
			for b.Loop() {
				s.Latest(benchAt-366*86400*1000, benchAt, 0)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	for _, expr := range []string{"*/5 * * * *", "0 9 * * 1-5", "@every 10s", "@at 2036-12-01T08:00:00Z"} {
		spec := Spec{Expr: expr, Zone: "America/New_York"}
		b.Run("seen=yes/expr="+benchName(expr), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(spec); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("seen=no/expr="+benchName(expr), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := embeddedZones.compileSchedule(spec, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("seen=parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := Parse(Spec{Expr: "0 9 * * 1-5", Zone: "America/New_York"}); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
