package scheduler

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/core"
	"github.com/carillon-io/carillon/testkit"
)

// quotaDef returns a definition of a tenant with a payload of some bytes.
func quotaDef(tenant, name string, payload int) *job.Definition {
	def := job.Defaults()
	def.Tenant, def.Name, def.Target = tenant, name, job.Target{Kind: job.TargetNATS, Subject: "out"}
	def.Schedule, def.Payload = "@every 24h", make([]byte, payload)
	return &def
}

// register puts a job, and returns the error of the engine.
func (s *sim) register(def *job.Definition) error {
	p := must(s.engine.prepare(def))
	s.proposePut(p)
	return p.Err
}

// proposeAtOnce proposes a list of any length as one caller does.
func (s *sim) proposeAtOnce(list []core.Proposal) {
	s.begin()
	s.gather.add(newTicket(list...))
	s.finish()
	for s.gather.isWaiting() {
		s.step()
	}
}

func isOverQuota(err error) bool {
	e, ok := errors.AsType[*apierr.Error](err)
	return ok && e.Code == apierr.QuotaExceeded
}

// TestPutsInOneStep gives 5,000 registrations of a tenant with 100 places to one step, which needs several commits: 100
// are accepted, and the others are refused one by one.
func TestPutsInOneStep(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	s.quotas = NewQuotas(map[string]Quota{"t": {Jobs: 100, Bytes: 1 << 30}})
	var puts []*core.Put
	var proposals []core.Proposal
	for i := range 5000 {
		p := must(s.engine.prepare(quotaDef("t", fmt.Sprint(i), 0)))
		puts, proposals = append(puts, p), append(proposals, p)
	}
	s.proposeAtOnce(proposals)
	accepted := 0
	for i, p := range puts {
		switch {
		case p.Err == nil:
			accepted++
		case !isOverQuota(p.Err):
			t.Fatalf("put %d: %v", i, p.Err)
		}
	}
	if n := s.engine.Status().RefusedBy[QuotaJobs]; accepted != 100 || n != 4900 {
		t.Errorf("%d of 100 were accepted, %d are counted as refused", accepted, n)
	}
	if list := s.engine.TenantQuotas(); len(list) != 1 || list[0].Use.Jobs != 100 || list[0].Limit.Jobs != 100 {
		t.Errorf("the quotas are %+v", list)
	}
}

// TestStoredLiveRuns: an engine of several shards that stands by tells how many live runs its store had when it began, since other
// shards count by it until they hear of a leader. It counts none of them twice when it leads.
func TestStoredLiveRuns(t *testing.T) {
	s := &story{sim: newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{Shards: 4})}
	s.quotas = NewQuotas(map[string]Quota{"default": {LiveRuns: 10}})
	for i, jobs := 0, 0; jobs < 3; i++ {
		if name := fmt.Sprint(i); job.ShardOf(job.SlotOf("default", name), 4) == 0 {
			s.target[name] = "hang"
			s.putIn(name, "@every 1m", "")
			jobs++
		}
	}
	s.advance(90 * time.Second)
	want := func(what string, e *Engine) {
		t.Helper()
		if list := e.TenantQuotas(); len(list) != 1 || list[0].Use.LiveRuns != 3 {
			t.Errorf("%s: the quotas are %+v, want 3 live runs", what, list)
		}
	}
	want("the leader", s.engine)
	s.join()
	want("a standby that has just begun", s.other.engine)
	if err := s.takeOver(); err != nil {
		t.Fatal(err)
	}
	want("the standby after its promotion", s.engine)
}

// TestUsesTwin registers, changes and deletes jobs of many tenants at random, with crashes and takeovers, and compares
// what the engine counts with a map. A tenant among them does nothing: its use stays what it is, and its last place is
// free whatever the others do.
func TestUsesTwin(t *testing.T) {
	testkit.NotUnderRace(t, drivenByHand)
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	s.join()
	rng := rand.New(rand.NewPCG(1, 2))
	s.quotas = NewQuotas(map[string]Quota{"quiet": {Jobs: 3, Bytes: 1000}, "t1": {Jobs: 5}, "t2": {Bytes: 2000}, "t3": {Jobs: 4, Bytes: 900}})
	twin := make(map[string]map[string]int64) // bytes by tenant and name
	put := func(def *job.Definition) {
		if err := s.register(def); err != nil && !isOverQuota(err) {
			t.Fatal(err)
		} else if err == nil {
			if twin[def.Tenant] == nil {
				twin[def.Tenant] = make(map[string]int64)
			}
			twin[def.Tenant][def.Name] = int64(job.DefinitionBytes(def))
		}
	}
	put(quotaDef("quiet", "quiet/a", 10))
	put(quotaDef("quiet", "quiet/b", 20))
	quiet := s.engine.gauge.uses["quiet"]
	for i := range 1500 {
		tenant := fmt.Sprint("t", rng.IntN(12))
		name := fmt.Sprint(tenant, "/", rng.IntN(8))
		switch n := rng.IntN(100); {
		case n < 60:
			put(quotaDef(tenant, name, rng.IntN(500)))
		case n < 96:
			p := &core.Delete{Tenant: tenant, Name: name, Hash: s.hash(name)}
			if s.propose(p); p.Err == nil {
				delete(twin[tenant], name)
			}
		case n < 98:
			s.crash()
		default:
			if err := s.takeOver(); err != nil {
				t.Fatal(err)
			}
		}
		compareUses(t, i, s, twin)
	}
	if now := s.engine.gauge.uses["quiet"]; now != quiet {
		t.Errorf("the quiet tenant uses %+v, and used %+v", now, quiet)
	}
	if err := s.register(quotaDef("quiet", "quiet/c", 30)); err != nil {
		t.Error(err)
	}
	if err := s.register(quotaDef("quiet", "quiet/d", 30)); !isOverQuota(err) {
		t.Errorf("the fourth job of three was answered %v", err)
	}
}

// compareUses compares what the engine counts with a twin, and with a recount of its own rows.
func compareUses(t *testing.T, i int, s *sim, twin map[string]map[string]int64) {
	t.Helper()
	want := make(map[string]Quota)
	for tenant, jobs := range twin {
		if len(jobs) > 0 {
			u := Quota{Jobs: int64(len(jobs))}
			for _, n := range jobs {
				u.Bytes += n
			}
			want[tenant] = u
		}
	}
	if got := s.engine.gauge.uses; !maps.Equal(got, want) {
		t.Fatalf("step %d: the engine counts %v, want %v", i, got, want)
	}
	if err := errors.Join(s.engine.core.Check(), s.engine.core.CheckBytes(s.store)); err != nil {
		t.Fatalf("step %d: %v", i, err)
	}
}

// forge changes the store as a leader of an earlier release would have.
func (s *sim) forge(change func(b *job.Batch)) {
	s.t.Helper()
	var b job.Batch
	change(&b)
	at, err := s.log.Append(s.engine.core.Epoch(), b.Bytes())
	if err == nil {
		err = s.store.Apply(at, b.Bytes())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestCountAfterEarlierRelease: a leader of an earlier release changed definitions and kept no sums. The next leader
// counts the definitions again, a thousand between two steps, while jobs are registered, changed and deleted; a standby
// that takes over in the middle counts again from the beginning.
func TestCountAfterEarlierRelease(t *testing.T) {
	testkit.NotUnderRace(t, drivenByHand)
	for _, how := range []string{"restart", "takeover", "takeover in the middle"} {
		t.Run(how, func(t *testing.T) {
			s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
			var proposals []core.Proposal
			for i := range 3500 {
				proposals = append(proposals, must(s.engine.prepare(quotaDef(fmt.Sprint("t", i%3), fmt.Sprintf("t%d/%04d", i%3, i), i%7))))
			}
			proposals = append(proposals, must(s.engine.prepare(quotaDef("gone", "gone/a", 0))))
			s.proposeAtOnce(proposals)
			s.join()
			rec := must(s.engine.Get(t.Context(), "t0", "t0/0000"))
			gone := must(s.engine.Get(t.Context(), "gone", "gone/a"))
			s.forge(func(b *job.Batch) {
				b.PutMeta(core.MetaEpoch, s.engine.core.Epoch()+1)
				b.PutRecord(rec.Stamp, job.EncodeDefinition(quotaDef("t0", "t0/0000", 5000)))
				b.DeleteName("gone", "gone/a")
				b.DeleteJobRow(job.KindJob, gone.ID)
				b.DeleteJobRow(job.KindTimer, gone.ID)
			})
			if how == "restart" {
				s.crash()
			} else if err := s.takeOver(); err != nil {
				t.Fatal(err)
			}
			if !s.engine.core.IsCounting() {
				t.Fatal("the new leader does not count")
			}
			if how == "takeover in the middle" {
				s.step()
				if err := s.takeOver(); err != nil {
					t.Fatal(err)
				}
			}
			changeWhileCounting(s)
			if err := errors.Join(s.engine.core.Check(), s.engine.core.CheckBytes(s.store)); err != nil {
				t.Error(err)
			}
			if s.engine.core.IsCounting() || s.engine.gauge.uses["gone"] != (Quota{}) {
				t.Errorf("still counting: %t; the tenant that is gone uses %+v", s.engine.core.IsCounting(), s.engine.gauge.uses["gone"])
			}
			before := maps.Clone(s.engine.gauge.uses)
			s.crash()
			if s.engine.core.IsCounting() || !maps.Equal(before, s.engine.gauge.uses) {
				t.Errorf("after another start it is counting: %t, %v; want %v", s.engine.core.IsCounting(), s.engine.gauge.uses, before)
			}
		})
	}
}

// changeWhileCounting registers, changes and deletes jobs at both ends of what is counted, until the count is over.
func changeWhileCounting(s *sim) {
	s.t.Helper()
	for i := range 12 {
		for _, n := range []int{10 + i, 3400 + i} {
			tenant := fmt.Sprint("t", n%3)
			name := fmt.Sprintf("%s/%04d", tenant, n)
			if i%2 == 0 {
				p := &core.Delete{Tenant: tenant, Name: name, Hash: s.hash(name)}
				if s.proposeOnly(p); p.Err != nil {
					s.t.Fatal(p.Err)
				}
				continue
			}
			p := must(s.engine.prepare(quotaDef(tenant, name, 1000+i)))
			if err := s.engine.readPrior(p); err != nil {
				s.t.Fatal(err)
			}
			if s.proposeOnly(p); p.Err != nil {
				s.t.Fatal(p.Err)
			}
		}
		p := must(s.engine.prepare(quotaDef("new", fmt.Sprint("new/", i), i)))
		if s.proposeOnly(p); p.Err != nil {
			s.t.Fatal(p.Err)
		}
	}
}

// scannedKinds records the kinds of rows that pass through it.
type scannedKinds struct {
	core.Scanner
	kinds []job.Kind
}

func (c *scannedKinds) Scan(low, high []byte, fn func(key, value []byte) (bool, error)) error {
	c.kinds = append(c.kinds, job.Kind(low[0]))
	return c.Scanner.Scan(low, high, fn)
}

// TestLoadReadsNoDefinitions: a start counts what tenants use from the rows that it reads anyway.
func TestLoadReadsNoDefinitions(t *testing.T) {
	s := newSim(t, time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC), Settings{})
	for i := range 20 {
		if err := s.register(quotaDef(fmt.Sprint("t", i%2), fmt.Sprintf("t%d/%d", i%2, i), i)); err != nil {
			t.Fatal(err)
		}
	}
	from := &scannedKinds{Scanner: s.store}
	loaded := core.New(s.opts.Settings, 0)
	if err := loaded.Load(from, s.engine.hasher); err != nil {
		t.Fatal(err)
	}
	if slices.Contains(from.kinds, job.KindJob) {
		t.Errorf("a load scans the kinds %v", from.kinds)
	}
	for _, u := range loaded.Uses() {
		if u.Use != s.engine.gauge.uses[u.Tenant] || u.Use.Jobs != 10 {
			t.Errorf("%s uses %+v after the load, want %+v", u.Tenant, u.Use, s.engine.gauge.uses[u.Tenant])
		}
	}
	if n := len(loaded.Uses()); n != 2 {
		t.Errorf("%d tenants after the load, want 2", n)
	}
}
