package scheduler

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// TestPutBytesIsABound registers and updates jobs whose rows are as large as their definitions allow:
// none adds more to a commit than it said.
func TestPutBytesIsABound(t *testing.T) {
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	for name, change := range map[string]func(*job.Definition){
		"small":       func(d *job.Definition) {},
		"macro":       func(d *job.Definition) { d.Schedule, d.Timezone = "@yearly", "America/Argentina/ComodRivadavia" },
		"interval":    func(d *job.Definition) { d.Schedule = "@every 1h" },
		"long names":  func(d *job.Definition) { d.Tenant, d.Name = long("t", 64), long("n", job.NameBytesMax) },
		"long cron":   func(d *job.Definition) { d.Schedule = "0," + long("1-59/7,", 30) + "5 * * * *" },
		"large":       func(d *job.Definition) { d.Payload = make([]byte, 200<<10) },
		"wide":        func(d *job.Definition) { d.MaxRuns, d.MaxCatchupRuns, d.CatchupWindow = 1<<32-1, 1<<32-1, 1<<62 },
		"long window": func(d *job.Definition) { d.Schedule, d.StartsAt, d.EndsAt = "@every 24h", 1, instant.Max-1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSim(t, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Settings{Lead: time.Second, HistoryDays: 1})
			def := job.Defaults()
			def.Tenant, def.Name, def.Schedule, def.Target = "t", "n", "0 0 1 1 *", job.Target{Kind: job.TargetNATS, Subject: "s"}
			change(&def)
			for version := range uint32(2) {
				p, err := s.engine.prepare(&def)
				if err != nil {
					t.Fatal(err)
				}
				if version > 0 {
					if err := s.engine.readPrior(p); err != nil {
						t.Fatal(err)
					}
				}
				said := p.Bytes()
				s.begin()
				s.gather.add(newTicket(p))
				s.finish()
				if p.Err != nil || p.Stamp.Version != version+1 {
					t.Fatalf("version %d: %v", p.Stamp.Version, p.Err)
				}
				if size := s.engine.core.Inspect().StepBytes; size > said {
					t.Errorf("version %d: %d bytes, said %d", version+1, size, said)
				}
			}
		})
	}
}
