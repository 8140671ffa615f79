package scheduler

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
	core, hasher := NewCore(Settings{Lead: 250 * time.Millisecond, Grace: time.Second}, now), newNameHasher()
	def := oneShot("x", 24*time.Hour)
	schedule, _ := schedule.Parse(def.Spec())
	row, profile := job.EncodeDefinition(def), job.ProfileOf(def, schedule)
	names := make([]nameHash, b.N)
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
	core, hasher := NewCore(Settings{Lead: 250 * time.Millisecond, Grace: time.Second}, now), newNameHasher()
	def := oneShot("x", 0)
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

// nullSender answers at once.
type nullSender struct{ Boundless }

// Cancel implements Sender: nothing takes long enough to be cancelled.
func (nullSender) Cancel(job.RunID) {}

// Launch implements Sender.
func (nullSender) Launch(d *job.Delivery, done func(job.Outcome)) {
	done(job.Outcome{Run: d.Run, Attempt: d.Attempt})
}

// BenchmarkPad is the way of a launch over the pad, without the reading of its job: so many are due in
// each millisecond.
func BenchmarkPad(b *testing.B) {
	for _, each := range []int{1, 16, 1024} {
		b.Run(fmt.Sprintf("each=%d", each), func(b *testing.B) {
			p := newPad(padHorizon, nullSender{}, func(job.Outcome) {})
			launches, delivery := make([]Launch, each), &job.Delivery{}
			var chunk, ready []*waiting
			b.ReportAllocs()
			b.ResetTimer()
			for n, now := 0, instant.Millis(1); n < b.N; n, now = n+each, now+1 {
				for i := range launches {
					launches[i] = Launch{Run: job.RunID{Job: job.ID(n + i + 1), At: now}, Due: now, Attempt: 1}
				}
				p.add(launches, now-1)
				for chunk, _ = p.unreadChunk(now, chunk[:0]); len(chunk) > 0; chunk, _ = p.unreadChunk(now, chunk[:0]) {
					for _, w := range chunk {
						p.ready(w, delivery, nil, w.Due)
					}
				}
				for more := true; more; {
					more, ready = p.launchDue(now, ready[:0])
				}
			}
		})
	}
}
