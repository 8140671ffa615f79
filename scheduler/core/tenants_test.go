package core

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// TestRowsStaySmall: the tenant of a job and of a live run takes no memory beyond that of the hash which was there
// before.
func TestRowsStaySmall(t *testing.T) {
	if n := unsafe.Sizeof(hotRow{}); n != 48 {
		t.Errorf("a hot row has %d bytes, want 48", n)
	}
	if n := unsafe.Sizeof(liveRun{}); n != 48 {
		t.Errorf("a live run has %d bytes, want 48", n)
	}
}

// TestManyTenants: tenants whose numbers do not fit into a row are counted like all others, and a tenant that uses nothing
// takes no memory.
func TestManyTenants(t *testing.T) {
	h := newHerd(t)
	h.core.decisionsMax = DecisionsMax
	h.core.tenants.narrow = 3
	rng := rand.New(rand.NewPCG(3, 4))
	var live []pad.Launch
	for round := range 400 {
		tenant := fmt.Sprint("tenant", rng.IntN(12))
		name := fmt.Sprint(tenant, rng.IntN(3))
		switch rng.IntN(4) {
		case 0, 1:
			h.put(tenant, name, "@every 1s")
		case 2:
			h.step(&Delete{Tenant: tenant, Name: name, Hash: h.hasher.hash(tenant, name), Of: DefinitionSize{Bytes: h.size(tenant, name)}})
		case 3:
			n := rng.IntN(len(live) + 1)
			h.end(live[:n])
			live = live[n:]
		}
		h.now += 700
		live = append(live, h.step()...)
		if err := h.core.checkTenants(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if len(h.core.tenants.wide) == 0 {
		t.Error("no job has a tenant beyond the narrow numbers; the test wants some")
	}
	for tenant := range 12 {
		for n := range 3 {
			tenant := fmt.Sprint("tenant", tenant)
			name := fmt.Sprint(tenant, n)
			h.step(&Delete{Tenant: tenant, Name: name, Hash: h.hasher.hash(tenant, name), Of: DefinitionSize{Bytes: h.size(tenant, name)}})
		}
	}
	var outcomes []job.Outcome
	for id, l := range h.core.live {
		outcomes = append(outcomes, job.Outcome{Run: id, Attempt: l.attempt, LaunchedAt: h.now.Time()})
	}
	h.stepWith(outcomes)
	x := &h.core.tenants
	if len(x.byName) != 0 || len(x.wide) != 0 || len(x.free) != len(x.list)-1 {
		t.Errorf("nothing is left, and %d tenants are known, %d jobs have wide numbers, %d of %d numbers are free", len(x.byName), len(x.wide), len(x.free), len(x.list)-1)
	}
}

// size returns the size of the definition that put gives a job.
func (h *herd) size(tenant, name string) int {
	def := oneShotOf(name)
	def.Tenant, def.Schedule = tenant, "@every 1s"
	return job.DefinitionBytes(def)
}

// TestMisjudgedUnitKeepsItsCharge: a unit that turns out too large moves to the next commit, and its bytes with it. The
// sum in each commit is that of the jobs in it.
func TestMisjudgedUnitKeepsItsCharge(t *testing.T) {
	h := newHerd(t)
	h.put("a", "first", "@every 1s")
	first := h.core.tenants.find("a").bytes
	h.core.begin(Input{Now: h.now, LSN: h.lsn + 1})
	h.core.unit(10)
	h.core.charge(h.core.tenants.find("a"), 1, 100)
	h.core.out.Batch.Put([]byte{1, 'x'}, make([]byte, 600))
	h.core.commitMax = 1000
	h.core.unit(10)
	h.core.charge(h.core.tenants.find("a"), 1, 1000)
	h.core.out.Batch.Put([]byte{1, 'y'}, make([]byte, 600))
	h.core.endUnit()
	if h.core.misjudged != 1 || len(h.core.out.Sealed) != 1 {
		t.Fatalf("%d units were misjudged, %d commits sealed; want one of each", h.core.misjudged, len(h.core.out.Sealed))
	}
	h.core.keepMarks()
	for i, b := range []*job.Batch{h.core.out.Sealed[0], &h.core.out.Batch} {
		want := uint64(first) + 100
		if i == 1 {
			want += 1000
		}
		if got := sumIn(t, b, "a"); got != want {
			t.Errorf("commit %d has the sum %d, want %d", i, got, want)
		}
	}
}

// sumIn returns the sum of a tenant's bytes that a batch has.
func sumIn(t *testing.T, b *job.Batch, tenant string) (n uint64) {
	t.Helper()
	key := string(job.AppendMetaKey(nil, metaBytesOf+tenant))
	err := job.Changes(b.Bytes(), func(ch job.Change) (err error) {
		if string(ch.Key) == key {
			n, err = job.DecodeMeta(ch.Value)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
