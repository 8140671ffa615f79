package scheduler

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
)

// rulesOf returns zone rules in which some names stand for other zones; "" stands for none. All others are as
// they are.
func rulesOf(version string, as map[string]string) *schedule.Zones {
	return schedule.NewZones("test", version, func(name string) (*time.Location, error) {
		if other, ok := as[name]; ok {
			return zoneUnderName(name, other)
		}
		return schedule.EmbeddedZones().Location(name)
	})
}

// zoneUnderName returns a zone with the rules of another one.
func zoneUnderName(name, other string) (*time.Location, error) {
	data, err := schedule.EmbeddedZoneData(other)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}

// The zones of these tests: Berlin is at +01:00 in January, Tokyo at +09:00, Athens at +02:00.
var (
	rulesOld = rulesOf("2025b", nil)
	rulesNew = rulesOf("2025c", map[string]string{"Europe/Berlin": "Europe/Athens"})
	rulesCut = rulesOf("2026a", map[string]string{"Europe/Berlin": ""})
)

func zonedSim(t *testing.T, rules *schedule.Zones) *sim {
	return newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{Zones: rules, CompletedRetention: -1})
}

// putIn registers a job in a zone; the definition may be changed before.
func (s *sim) putIn(name, expr, zone string, change ...func(*job.Definition)) {
	s.t.Helper()
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = "default", name, job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Timezone = expr, zone
	for _, f := range change {
		f(&def)
	}
	p := must(s.engine.prepare(&def))
	s.proposePut(p)
	if p.Err != nil {
		s.t.Fatal(p.Err)
	}
}

// restart starts the process again, under other rules.
func (s *sim) restart(rules *schedule.Zones) {
	s.opts.Settings.Zones = rules
	s.crash()
	s.settle()
}

func (s *sim) view(name string) JobView {
	s.t.Helper()
	v, err := s.engine.Get(s.t.Context(), "default", name)
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// wantNext checks when a job comes next, on 5 January or the day after.
func (s *sim) wantNext(name, want string) {
	s.t.Helper()
	if v := s.view(name); v.NextRunAt.Time().UTC().Format("02 15:04") != want {
		s.t.Errorf("%s comes next at %s (%s, %q), want %s", name, v.NextRunAt, v.Status, v.StatusReason, want)
	}
}

// TestZoneRulesChange starts again under other rules: the jobs of the zone that differs follow, in any state, and
// no other job is touched.
func TestZoneRulesChange(t *testing.T) {
	s := zonedSim(t, rulesOld)
	s.putIn("berlin", "0 18 * * *", "Europe/Berlin")
	s.putIn("paused", "0 18 * * *", "Europe/Berlin", func(d *job.Definition) { d.Paused = true })
	s.putIn("several", "0 18 * * *", "", func(d *job.Definition) {
		d.Schedule, d.Schedules = "", []string{"30 21 * * *", "CRON_TZ=Europe/Berlin 0 22 * * *"}
	})
	s.putIn("tokyo", "0 4 * * *", "Asia/Tokyo")
	s.putIn("utc", "0 17 * * *", "")
	s.putIn("every", "@every 7h", "Europe/Berlin")
	s.wantNext("berlin", "05 17:00")
	s.wantNext("several", "05 21:00")

	s.restart(rulesNew)
	s.wantNext("berlin", "05 16:00")
	s.wantNext("several", "05 20:00")
	s.wantNext("tokyo", "05 19:00")
	s.wantNext("utc", "05 17:00")
	s.wantNext("every", "05 19:00")
	if z := s.engine.Status().Zones; z.Changed != 1 || z.Moved != 3 || z.Count != 2 || z.Differs != 0 || z.Version != "2025c" {
		t.Errorf("the status says %+v; want 1 of 2 zones changed, and 3 jobs moved", z)
	}
	s.propose(&core.Pause{Tenant: "default", Name: "paused", Hash: s.hash("paused"), Resume: true})
	s.wantNext("paused", "05 16:00")

	before := s.store.Applied().LSN
	s.restart(rulesNew)
	if z := s.engine.Status().Zones; z.Changed != 0 || z.Moved != 0 || s.store.Applied().LSN != before+1 {
		t.Errorf("a start under the same rules: %+v, %d commits", z, s.store.Applied().LSN-before)
	}
	s.restart(rulesOld)
	s.wantNext("berlin", "05 17:00")
	s.wantNext("paused", "05 17:00")
}

// TestZoneRulesChangeAtTakeover lets the standby, which has other rules, lead.
func TestZoneRulesChangeAtTakeover(t *testing.T) {
	s := zonedSim(t, rulesOld)
	s.putIn("before", "0 18 * * *", "Europe/Berlin")
	s.opts.Settings.Zones = rulesNew
	s.join()
	s.putIn("after", "30 18 * * *", "Europe/Berlin")
	s.putIn("tokyo", "0 4 * * *", "Asia/Tokyo")
	if z := s.other.engine.Status().Zones; z.Differs != 1 || z.Count != 2 {
		t.Errorf("the standby says %+v; want 1 of 2 zones to differ", z)
	}
	if a, b := s.engine.Status().Zones, s.other.engine.Status().Zones; a.Digest == b.Digest {
		t.Errorf("both nodes have the digest %x", a.Digest)
	}
	if err := s.takeOver(); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.wantNext("before", "05 16:00")
	s.wantNext("after", "05 16:30")
	s.wantNext("tokyo", "05 19:00")
}

// TestZoneRulesCrashBetweenPieces dies after the commit that notes the change, and before the jobs have
// followed.
func TestZoneRulesCrashBetweenPieces(t *testing.T) {
	s := zonedSim(t, rulesOld)
	s.putIn("berlin", "0 18 * * *", "Europe/Berlin")
	s.opts.Settings.Zones = rulesNew
	e, err := Open(s.opts)
	if err != nil {
		t.Fatal(err)
	}
	_ = e.pad.Disarm()
	s.restart(rulesNew)
	s.wantNext("berlin", "05 16:00")
	if s.engine.core.Inspect().Moving {
		t.Error("jobs have still to follow")
	}
}

// TestZoneRulesChangeBackBetweenPieces dies there, too, and starts under the first rules again.
func TestZoneRulesChangeBackBetweenPieces(t *testing.T) {
	s := zonedSim(t, rulesOld)
	s.putIn("berlin", "0 18 * * *", "Europe/Berlin")
	s.restart(rulesNew)
	s.opts.Settings.Zones = rulesOld
	e, err := Open(s.opts)
	if err != nil {
		t.Fatal(err)
	}
	_ = e.pad.Disarm()
	s.restart(rulesNew)
	s.wantNext("berlin", "05 16:00")
}

// TestZoneVanishes starts under rules that lack a zone: its jobs stop with a reason, and go on when it is back.
func TestZoneVanishes(t *testing.T) {
	s := zonedSim(t, rulesOld)
	s.putIn("berlin", "0 18 * * *", "Europe/Berlin")
	s.putIn("tokyo", "0 4 * * *", "Asia/Tokyo")
	s.restart(rulesCut)
	if v := s.view("berlin"); v.Status != "failed" || !strings.Contains(v.StatusReason, `"Europe/Berlin" is unknown`) {
		t.Errorf("without the zone the job is %s: %q", v.Status, v.StatusReason)
	}
	s.wantNext("tokyo", "05 19:00")
	s.restart(rulesNew)
	s.wantNext("berlin", "05 16:00")
	if v := s.view("berlin"); v.Status != "active" || v.StatusReason != "" {
		t.Errorf("with the zone the job is %s: %q", v.Status, v.StatusReason)
	}
}

// TestZoneRulesKeepWhatWasDue changes the rules while the process is down: a tick that was due by then is decided as
// it was planned, and what was decided is not decided again.
func TestZoneRulesKeepWhatWasDue(t *testing.T) {
	s := zonedSim(t, rulesOld)
	s.putIn("due", "30 13 * * *", "Europe/Berlin")   // 12:30Z, then 11:30Z
	s.putIn("soon", "0 14 * * *", "Europe/Berlin")   // 13:00Z, then 12:00Z
	s.putIn("later", "30 14 * * *", "Europe/Berlin") // 13:30Z, then 12:30Z
	s.putIn("within", "0 15 * * *", "Europe/Berlin") // 14:00Z, then 13:00Z
	s.advance(31 * time.Minute)
	s.left = nil
	s.now = s.now.Add(28*time.Minute + 59*time.Second + 900*time.Millisecond) // 12:59:59.9
	s.restart(rulesNew)
	s.now = s.now.Add(time.Second)
	s.settle()
	if len(s.left) != 0 {
		t.Errorf("%v left within the lead", s.left)
	}
	s.wantNext("due", "06 11:30")
	s.wantNext("soon", "06 12:00")
	s.wantNext("later", "06 12:30")
	s.wantNext("within", "06 13:00")
	s.restart(rulesOld)
	s.wantNext("later", "05 13:30")
	s.wantNext("within", "05 14:00")
	s.now = s.now.Add(70 * time.Minute)
	s.left = nil
	s.restart(rulesNew)
	if len(s.left) != 2 {
		t.Errorf("%v left; want the runs of the two ticks that were due by the old rules", s.left)
	}
	s.wantNext("within", "06 13:00")
}

// TestZonesOfAnOlderStore opens a store that no zones are remembered in: the rules of now are those that its jobs
// are planned by.
func TestZonesOfAnOlderStore(t *testing.T) {
	s := zonedSim(t, rulesOld)
	s.putIn("berlin", "0 18 * * *", "Europe/Berlin")
	var b job.Batch
	for _, name := range []string{core.MetaZone + "Europe/Berlin", core.MetaTZData} {
		b.Delete(job.AppendMetaKey(nil, name))
	}
	if err := s.store.Apply(job.Position{LSN: s.store.Applied().LSN}, b.Bytes()); err != nil {
		t.Fatal(err)
	}
	s.restart(rulesNew)
	s.wantNext("berlin", "05 17:00")
	if z := s.engine.Status().Zones; z.Changed != 0 || z.Count != 1 {
		t.Errorf("an older store: %+v", z)
	}
	s.restart(rulesOld)
	s.wantNext("berlin", "05 17:00")
	if z := s.engine.Status().Zones; z.Changed != 1 {
		t.Errorf("the rules were not remembered: %+v", z)
	}
}

// TestZoneRulesKeepOwedTicks starts under other rules after an outage over several ticks: the policy for missed runs
// still fires the one that was due by the rules of then.
func TestZoneRulesKeepOwedTicks(t *testing.T) {
	s := zonedSim(t, rulesOld)
	s.putIn("a", "30 13 * * *", "Europe/Berlin", func(d *job.Definition) { // 12:30Z, then 11:30Z
		d.Missed, d.MaxCatchupRuns, d.CatchupWindow = job.MissedBackfill, 10, 100*time.Hour
	})
	s.now = s.now.Add(50 * time.Hour) // the 7th, 14:00
	s.restart(rulesNew)
	if len(s.left) != 3 {
		t.Errorf("%v left; want the runs of three ticks\n%s", s.left, s.ledger("a"))
	}
}
