package core

import (
	"testing"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// TestFoundTick: a step takes over what the proposer of a put has found if that answers its own search too, and searches
// itself otherwise. The tick that was found is none of the schedule, so that a step that takes it over is seen.
func TestFoundTick(t *testing.T) {
	h := newHerd(t)
	s, err := schedule.Parse(schedule.Spec{Expr: "0 0 1 1 *", Exclude: "2026-12-24"})
	if err != nil {
		t.Fatal(err)
	}
	other := *s
	real, _ := s.Next(h.now, h.now)
	lie := h.now + 123_456
	for name, c := range map[string]struct {
		found Found
		want  instant.Millis
	}{
		"none":                            {Found{}, real},
		"from now":                        {Found{s, h.now, lie}, lie},
		"from a while ago":                {Found{s, h.now - 5_000, lie}, lie},
		"from later: the clock went back": {Found{s, h.now + 1, lie}, real},
		"a tick that has passed":          {Found{s, h.now - 5_000, h.now}, real},
		"of another schedule":             {Found{&other, h.now, lie}, real},
	} {
		def := oneShotOf(name)
		def.Schedule, def.Exclude = "0 0 1 1 *", []string{"2026-12-24"}
		p := &Put{
			Tenant: def.Tenant, Name: name, Hash: h.hasher.hash(def.Tenant, name), Found: c.found,
			Definition: job.EncodeDefinition(def), Profile: job.ProfileOf(def, s), Schedule: s,
		}
		if h.step(p); p.Err != nil || p.NextRun != c.want {
			t.Errorf("%s: the next run is at %s, %v; want %s", name, p.NextRun, p.Err, c.want)
		}
	}
}
