package core

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// BenchmarkStepPut is the cost of a registration in the core, without log and store.
func BenchmarkStepPut(b *testing.B) {
	now := instant.Of(time.Now())
	core, hasher := New(Settings{Lead: 250 * time.Millisecond, Grace: time.Second}, now), testHasher{}
	def := oneShotOf("x")
	def.Schedule = "@at 2099-01-01T00:00:00Z"
	schedule, _ := schedule.Parse(def.Spec())
	row, profile := job.EncodeDefinition(def), job.ProfileOf(def, schedule)
	names := make([]NameHash, b.N)
	for i := range names {
		names[i] = hasher.hash("default", fmt.Sprint("job/", i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	puts := make([]Put, 512)
	proposals := make([]Proposal, 0, len(puts))
	for at := 0; at < b.N; at += len(puts) {
		proposals = proposals[:0]
		for i := range min(len(puts), b.N-at) {
			puts[i] = Put{Tenant: "default", Name: "x", Hash: names[at+i], Definition: row, Profile: profile, Schedule: schedule}
			proposals = append(proposals, &puts[i])
		}
		core.Step(Input{Now: now, LSN: uint64(at + 1), Proposals: proposals, Room: 1})
	}
}

// BenchmarkStepFire is the cost of a tick in the core: the decision, the outcome and the way round the
// wheel.
func BenchmarkStepFire(b *testing.B) {
	const jobs = 10_000
	now := instant.Of(time.Now())
	core, hasher := New(Settings{Lead: 250 * time.Millisecond, Grace: time.Second}, now), testHasher{}
	def := oneShotOf("x")
	def.Schedule = "@every 1s"
	schedule, _ := schedule.Parse(def.Spec())
	row, profile := job.EncodeDefinition(def), job.ProfileOf(def, schedule)
	for i := range jobs {
		core.Step(Input{Now: now + instant.Millis(i%1000), LSN: 1, Proposals: []Proposal{&Put{
			Tenant: "default", Name: "x", Hash: hasher.hash("default", fmt.Sprint(i)), Definition: row, Profile: profile, Schedule: schedule,
		}}})
	}
	now += 1000 // never back: what is due is off the wheel already
	b.ReportAllocs()
	b.ResetTimer()
	var outcomes []job.Outcome
	for fired := 0; fired < b.N; now += 10 {
		out := core.Step(Input{Now: now, LSN: 1, Outcomes: outcomes, Room: 1 << 20})
		fired += len(out.Launches)
		outcomes = outcomes[:0]
		for _, l := range out.Launches {
			outcomes = append(outcomes, job.Outcome{Run: l.Run, Attempt: 1, LaunchedAt: l.Run.At.Time()})
		}
	}
}
