package scheduler

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/testkit"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "run the random stories with this seed only")
	seedCount = flag.Int("seeds", 60, "how many random stories to run")
)

// TestRandomStories lets random users, targets, clocks and crashes loose on the engine, and checks
// after each act what must hold at any time. A failing seed prints the command that repeats it.
func TestRandomStories(t *testing.T) {
	eachSeed(t, runStory)
}

// eachSeed runs a random story with the seed of the command line, or with as many seeds as that says: with a tenth of them
// under the race detector, as each story does the same with its goroutines.
func eachSeed(t *testing.T, story func(t *testing.T, seed uint64)) {
	if *seedFlag != 0 {
		story(t, *seedFlag)
		return
	}
	count := *seedCount
	if testkit.Brief() {
		count = (count + 9) / 10
	}
	for range count {
		seed := testkit.Seed(t)
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { story(t, seed) }) {
			t.Fatalf("repeat with: go test ./scheduler -run %s -seed %d", t.Name(), seed)
		}
	}
}

// story is a random run of the engine together with what is known to be true of it.
type story struct {
	*sim
	rng   *rand.Rand
	final map[string][]byte  // history rows: final means final
	ended map[job.RunID]bool // runs that are final: none of them leaves again
	acts  []string
}

func runStory(t *testing.T, seed uint64) {
	start := time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
	s := &story{
		sim: newSim(t, start, Settings{CompletedRetention: 20 * time.Second}),
		rng: rand.New(rand.NewPCG(seed, 1)), final: map[string][]byte{}, ended: map[job.RunID]bool{},
	}
	if s.rng.IntN(2) == 0 {
		s.most = 1 + s.rng.IntN(12) // so that ticks go through the backlog
		s.engine.core.Limit(core.Limits{Decisions: s.most})
		s.rounds = s.rng.IntN(4) // so that users meet jobs that are in the backlog
	}
	s.bounds = &listBounds{reads: 1 + s.rng.IntN(4), names: 1 + s.rng.IntN(4), traits: 1 + s.rng.IntN(4), sort: s.rng.IntN(3)}
	s.engine.lists = *s.bounds
	defer func() {
		if t.Failed() {
			for _, a := range s.acts {
				t.Log(a)
			}
		}
	}()
	for range 120 {
		s.act()
		s.check()
		if t.Failed() {
			return
		}
	}
}

// storyJob names the jobs of a story. They belong to three tenants.
func storyJob(i int) string { return fmt.Sprintf("tenant-%d/job-%d", i%3, i) }

func (s *story) act() {
	name := storyJob(s.rng.IntN(6))
	note := func(format string, args ...any) {
		s.acts = append(s.acts, fmt.Sprintf("%s %s", clock(instant.Of(s.now)), fmt.Sprintf(format, args...)))
	}
	switch n := s.rng.IntN(100); {
	case n < 25:
		def := s.randomDefinition(name)
		note("put %s %s overlap=%s missed=%s paused=%t", name, def.Schedule, def.Overlap, def.Missed, def.Paused)
		s.putAny(def)
	case n < 32:
		note("pause %s", name)
		s.propose(&core.Pause{Tenant: tenantOf(name), Name: name, Hash: s.hash(name)})
	case n < 40:
		note("resume %s", name)
		s.propose(&core.Pause{Tenant: tenantOf(name), Name: name, Hash: s.hash(name), Resume: true})
	case n < 45:
		note("delete %s", name)
		s.propose(&core.Delete{Tenant: tenantOf(name), Name: name, Hash: s.hash(name)})
	case n < 50:
		note("trigger %s", name)
		s.propose(&core.Trigger{Tenant: tenantOf(name), Name: name, Hash: s.hash(name), HasPayload: n%2 == 0, Payload: []byte("x")})
	case n < 57:
		s.target[name] = []string{"ok", "hang", "boom"}[s.rng.IntN(3)]
		note("target %s %s", name, s.target[name])
	case n < 67 && len(s.flying[name]) > 0:
		note("answer %s", name)
		s.answer(name, []string{"", "boom"}[s.rng.IntN(2)])
	case n < 70 && s.given[name] != nil:
		note("report %s", name)
		p := &core.Report{Run: s.given[name].Run, Fence: s.given[name].Fence, Failed: n%2 == 0, Error: "boom"}
		p.Begun, _ = s.engine.pad.FlyingSince(p.Run)
		s.propose(p)
	case n < 71 && s.given[name] != nil:
		note("cancel %s", name)
		s.propose(&core.CancelRun{Tenant: tenantOf(name), Name: name, Run: s.given[name].Run})
	case n < 72:
		note("crash")
		s.crash()
	case n < 75:
		d := time.Duration(s.rng.IntN(20_000)) * time.Millisecond
		note("sleep %s", d)
		s.now = s.now.Add(d)
		s.crash()
	case n < 78:
		d := time.Duration(s.rng.IntN(4000)-2000) * time.Millisecond
		note("clock %s", d)
		s.now = s.now.Add(d)
	default:
		d := time.Duration(s.rng.IntN(3000)) * time.Millisecond
		note("advance %s", d)
		s.advance(d)
	}
}

func (s *story) randomDefinition(name string) *job.Definition {
	d := job.Defaults()
	d.Tenant, d.Name, d.Target = tenantOf(name), name, job.Target{Kind: job.TargetNATS, Subject: "x"}
	at := s.now.Add(time.Duration(s.rng.IntN(5000)) * time.Millisecond)
	d.Schedule = []string{
		"@every 10ms", "@every 100ms", "@every 1s", "@every 700ms", "* * * * *", "*/2 * * * * *",
		"@at " + at.Format(time.RFC3339Nano), "@at " + at.Format(time.RFC3339),
	}[s.rng.IntN(8)]
	d.Overlap = job.OverlapAllow + job.Overlap(s.rng.IntN(5))
	if d.Overlap == job.OverlapAllow {
		d.MaxConcurrent = uint32(s.rng.IntN(3))
	}
	if s.rng.IntN(4) == 0 {
		d.Completion, d.AttemptTimeout = job.CompletionReported, time.Duration(1+s.rng.IntN(5))*time.Second
	}
	d.PauseOnFailure = uint32(s.rng.IntN(2) * s.rng.IntN(5))
	d.Jitter = time.Duration(s.rng.IntN(3)*s.rng.IntN(3)) * 300 * time.Millisecond
	d.Missed = []job.Missed{job.MissedSkip, job.MissedFireOnce, job.MissedBackfill}[s.rng.IntN(3)]
	d.CatchupWindow = time.Duration(1+s.rng.IntN(30)) * time.Second
	d.MaxRuns = uint32(s.rng.IntN(2) * s.rng.IntN(20))
	d.Paused = s.rng.IntN(8) == 0
	for _, key := range []string{"team", "zone"} {
		if n := s.rng.IntN(3); n > 0 {
			d.Labels = append(d.Labels, job.Pair{Key: key, Value: fmt.Sprint(n)})
		}
	}
	return &d
}

// putAny registers as Engine.Put does, and lets a refusal be one.
func (s *story) putAny(def *job.Definition) {
	p, err := s.engine.prepare(def)
	if err != nil {
		s.t.Errorf("put %s: %v", def.Schedule, err)
		return
	}
	s.proposePut(p)
	if p.Err == core.ErrStale {
		s.t.Errorf("put %s is stale though it was prepared a moment ago", def.Name)
	}
}

func (s *story) check() {
	s.checkFinalStaysFinal()
	s.checkLaunches()
	s.checkMemoryIsStore()
	if err := s.engine.core.Check(); err != nil {
		s.t.Error(err)
	}
	if err := s.engine.core.CheckIndex(s.store); err != nil {
		s.t.Error(err)
	}
	s.checkLists()
	s.checkLedgers()
	s.acts, s.events = append(s.acts, s.events...), nil
}

// checkFinalStaysFinal: a run in the history never changes, and is not live at the same time.
func (s *story) checkFinalStaysFinal() {
	low := []byte{byte(job.KindHistory)}
	_ = s.store.Scan(low, job.PrefixEnd(low), func(k, row []byte) (bool, error) {
		key := string(k)
		id, _ := job.ParseRunKey(k)
		if old, seen := s.final[key]; seen && !bytes.Equal(old, row) {
			s.t.Errorf("run %s was decided twice", id)
		}
		s.final[key] = row
		if _, live, _ := s.store.Get(job.AppendRunKey(nil, id)); live {
			s.t.Errorf("run %s is live and final", id)
		}
		return true, nil
	})
}

// checkLaunches: a run that was final before this act did not leave in it.
func (s *story) checkLaunches() {
	for _, id := range s.left {
		if s.ended[id] {
			s.t.Errorf("run %s left after it was final", id)
		}
	}
	s.left = s.left[:0]
	for key := range s.final {
		id, _ := job.ParseRunKey([]byte(key))
		s.ended[id] = true
	}
}

// checkMemoryIsStore: a core that is loaded from the store knows what the running one knows.
func (s *story) checkMemoryIsStore() {
	c := s.engine.core
	fresh := core.New(c.Inspect().Settings, instant.Of(s.now))
	if err := fresh.Load(s.store, s.engine.hasher); err != nil {
		s.t.Errorf("load: %v", err)
		return
	}
	a, b := fresh.Inspect(), c.Inspect()
	if len(a.Jobs) != len(b.Jobs) || fresh.Armed() != c.Armed() || a.NextID != b.NextID {
		s.t.Errorf("loaded %d jobs, %d armed, next %d; running with %d, %d, %d",
			len(a.Jobs), fresh.Armed(), a.NextID, len(b.Jobs), c.Armed(), b.NextID)
	}
	for i := range 6 {
		h := s.hash(storyJob(i))
		if fresh.IDOf(h) != c.IDOf(h) || a.Jobs[fresh.IDOf(h)] != b.Jobs[c.IDOf(h)] {
			s.t.Errorf("job %d: loaded %+v, running with %+v", i, a.Jobs[fresh.IDOf(h)], b.Jobs[c.IDOf(h)])
		}
	}
	attempts := func(live map[job.RunID]core.InspectedRun) map[job.RunID]uint32 {
		m := make(map[job.RunID]uint32)
		for id, l := range live {
			m[id] = l.Attempt
		}
		return m
	}
	if !maps.Equal(attempts(a.Live), attempts(b.Live)) {
		s.t.Errorf("loaded %d live runs, running with %d", len(a.Live), len(b.Live))
	}
}

// checkLedgers: between two runs of an @every job that its ledger lists, every tick of the grid is
// decided too: by a run, or inside a skipped range.
func (s *story) checkLedgers() {
	now := s.engine.core.Inspect()
	for i := range 6 {
		name := storyJob(i)
		v, err := s.engine.Get(context.Background(), tenantOf(name), name)
		if err != nil || v.Version != 1 {
			continue
		}
		compiled, err := schedule.Parse(v.Def.Spec())
		if err != nil || compiled.Kind() != schedule.Every {
			continue
		}
		decided := s.decidedTicks(name, instant.Millis(compiled.Interval().Milliseconds()))
		row, debts := now.Jobs[v.ID].Timer, now.Debts[v.ID]
		for at, ok := compiled.Next(v.CreatedAt, v.Anchor); ok && at < row.Cursor; at, ok = compiled.Next(at, v.Anchor) {
			if !decided[at] && !slices.ContainsFunc(debts, func(d job.Debt) bool { return d.Has(at) }) && !v.lastIsMax(row) {
				s.t.Errorf("%s: the tick %s is not decided (cursor %s)", name, clock(at), clock(row.Cursor))
				return
			}
		}
	}
}

// lastIsMax reports whether the job ended by its max_runs: what follows is not to be decided.
func (v *JobView) lastIsMax(row job.Timer) bool {
	return v.Def.MaxRuns > 0 && row.Runs >= v.Def.MaxRuns
}

func (s *story) decidedTicks(name string, interval instant.Millis) map[instant.Millis]bool {
	decided := make(map[instant.Millis]bool)
	query := RunQuery{Tenant: tenantOf(name), Job: name, Limit: PageMax}
	for {
		page, err := s.engine.Runs(context.Background(), query)
		if err != nil {
			s.t.Error(err)
		}
		for _, r := range page.Runs {
			for at := r.ID.At; !r.Manual && at <= max(r.Until, r.ID.At); at += interval {
				decided[at] = true
			}
		}
		if query.After = page.Next; page.Next == (job.RunID{}) {
			return decided
		}
	}
}
