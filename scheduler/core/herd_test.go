package core

import (
	"fmt"
	"hash/maphash"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
	"github.com/carillon-io/carillon/scheduler/pad"
)

// herd is a core whose steps decide few ticks, with jobs that are due.
type herd struct {
	t      *testing.T
	core   *Core
	hasher testHasher
	now    instant.Millis
	lsn    uint64
	tenant map[job.ID]string

	liveMax int // 0: as many as a step can make
}

func newHerd(t *testing.T) *herd {
	now := instant.Of(time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC))
	core := New(Settings{Lead: 250 * time.Millisecond, Grace: time.Minute}, now)
	core.decisionsMax = 8
	core.useHasher(testHasher{})
	return &herd{t: t, core: core, hasher: testHasher{}, now: now, tenant: make(map[job.ID]string)}
}

// put registers a job, or updates it.
func (h *herd) put(tenant, name, spec string) *Put {
	p := h.newPut(tenant, name, spec)
	h.step(p)
	if p.Err != nil {
		h.t.Fatalf("put %s: %v", name, p.Err)
	}
	h.tenant[p.Stamp.ID] = tenant
	return p
}

// newPut returns a put that is not proposed yet.
func (h *herd) newPut(tenant, name, spec string) *Put {
	def := oneShotOf(name)
	def.Tenant, def.Schedule = tenant, spec
	s, err := schedule.Parse(def.Spec())
	if err != nil {
		h.t.Fatal(err)
	}
	p := &Put{
		Tenant: tenant, Name: name, Hash: h.hasher.hash(tenant, name),
		Definition: job.EncodeDefinition(def), Profile: job.ProfileOf(def, s), Schedule: s,
	}
	if _, r := h.core.find(p.Hash); r != nil {
		p.Prior = &Prior{ID: r.id, Version: r.version, Size: len(p.Definition)}
	}
	return p
}

func (h *herd) step(proposals ...Proposal) []pad.Launch {
	return h.stepWith(nil, proposals...)
}

func (h *herd) stepWith(outcomes []job.Outcome, proposals ...Proposal) []pad.Launch {
	h.lsn++
	room := 1000
	if h.liveMax > 0 {
		room = h.liveMax - len(h.core.live)
	}
	return h.core.Step(Input{Now: h.now, LSN: h.lsn, Proposals: proposals, Outcomes: outcomes, Room: room}).Launches
}

// come registers jobs of a tenant that are due in a second.
func (h *herd) come(tenant string, jobs int) {
	for i := range jobs {
		h.put(tenant, fmt.Sprint(tenant, i), "@at "+(h.now+1000).Time().Format(time.RFC3339Nano))
	}
}

// row returns the row of the i-th job of a tenant.
func (h *herd) row(tenant string, i int) *hotRow {
	_, r := h.core.find(h.hasher.hash(tenant, fmt.Sprint(tenant, i)))
	return r
}

// testHasher computes hashes of names, like the engine does.
type testHasher struct{}

var testSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func (t testHasher) hash(tenant, name string) NameHash {
	h := t.Text([]byte(tenant + "\x00" + name))
	h.Tenant = job.HashTenant(tenant)
	return h
}

// Name implements [Hasher].
func (t testHasher) Name(tenant, name string) NameHash { return t.hash(tenant, name) }

// Text implements [Hasher].
func (testHasher) Text(text []byte) NameHash {
	return NameHash{High: maphash.Bytes(testSeeds[0], text), Low: uint32(maphash.Bytes(testSeeds[1], text))}
}

// oneShotOf returns the definition of a one-shot that is due now.
func oneShotOf(name string) *job.Definition {
	d := job.Defaults()
	d.Tenant, d.Name, d.Target = "default", name, job.Target{Kind: job.TargetNATS, Subject: "x"}
	d.Schedule = "@at " + time.Now().UTC().Format(time.RFC3339Nano)
	return &d
}

func mustDo[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
