package history

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestAnswers(t *testing.T) {
	if got := unanswered(nats.ErrNoResponders); got != (result{refused, codeNobody}) {
		t.Errorf("no responders: %v", got)
	}
	if got := unanswered(nats.ErrTimeout); got.outcome != unknown {
		t.Errorf("timeout: %v", got)
	}
	if got := unanswered(errors.New("connection reset")); got.outcome != unknown {
		t.Errorf("other error: %v", got)
	}
	bodies := map[string]Outcome{
		`{"error":{"code":"not_found","message":"x"}}`:   refused,
		`{"error":{"code":"unavailable","message":"x"}}`: unknown,
		`{"error":{"code":"internal","message":"x"}}`:    unknown,
		`{}`: unknown,
		``:   unknown,
	}
	for body, want := range bodies {
		if got := refusal([]byte(body)); got.outcome != want {
			t.Errorf("%s: %v, want %s", body, got, want)
		}
	}
	var many putManyReply
	if err := json.Unmarshal([]byte(`{"results":[{"name":"a","version":1},{"name":"b","error":{"code":"invalid_name"}}]}`), &many); err != nil {
		t.Fatal(err)
	}
	if many.item(0, "a").outcome != acked || many.item(1, "b") != (result{refused, "invalid_name"}) {
		t.Errorf("items of a bulk reply: %v, %v", many.item(0, "a"), many.item(1, "b"))
	}
	if many.item(1, "a").outcome != unknown || many.item(2, "c").outcome != unknown {
		t.Error("a bulk reply that does not fit its request was believed")
	}
}

func TestDelivery(t *testing.T) {
	header := nats.Header{
		"Carillon-Run-Id": {"r"}, "Carillon-Job": {"j"}, "Carillon-Scheduled-At": {"2026-11-21T06:55:57.595Z"},
		"Carillon-Attempt": {"2"}, "Carillon-Fence": {"18446744073709551615"},
	}
	got := delivery("nats", header.Get, []byte(`{"mark":7}`), 5)
	scheduled := instantOf(time.Date(2026, 11, 21, 6, 55, 57, 595e6, time.UTC))
	want := Delivery{Target: "nats", Job: "j", RunID: "r", Mark: 7, Scheduled: scheduled, Arrived: 5, Attempt: 2, Fence: 1<<64 - 1}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if bare := delivery("nats", nats.Header{}.Get, nil, 5); bare != (Delivery{Target: "nats", Arrived: 5}) {
		t.Errorf("a message without headers is read as %+v", bare)
	}
}

func TestSpecs(t *testing.T) {
	tests := map[string]Spec{
		"@at 2026-11-21T06:55:57.595Z": {Kind: oneShot, Due: instantOf(time.Date(2026, 11, 21, 6, 55, 57, 595e6, time.UTC))},
		"@every 150ms":                 {Kind: every, Step: 150 * time.Millisecond},
		"* * * * * *":                  {Kind: cron, Step: time.Second},
		"*/2 * * * * *":                {Kind: cron, Step: 2 * time.Second},
	}
	for want, spec := range tests {
		if got := spec.schedule(); got != want {
			t.Errorf("schedule %q, want %q", got, want)
		}
	}
}

// TestRandomSpecs makes sure that the load covers what it is meant to cover, and that it is the same
// for the same seed.
func TestRandomSpecs(t *testing.T) {
	draw := func() []Spec {
		c := NewClient(1, 42, nil, &Recorder{}, &Targets{})
		var specs []Spec
		for range 500 {
			specs = append(specs, c.randomSpec(every))
		}
		return specs
	}
	first, second := draw(), draw()
	seen := make(map[string]bool)
	for i, s := range first {
		if s != second[i] {
			t.Fatalf("draw %d differs for the same seed: %+v and %+v", i, s, second[i])
		}
		seen[s.Target], seen[s.Missed], seen[s.Overlap] = true, true, true
	}
	for _, want := range []string{"nats", "request", "jetstream", "http", "skip", "fire_once", "backfill", "allow"} {
		if !seen[want] {
			t.Errorf("500 jobs and none has %q", want)
		}
	}
}

// TestTraceAgainstTwin compares the possible states with a server that answers some requests and
// loses the answers of others: what it holds must always be possible.
func TestTraceAgainstTwin(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 0))
		s := &story{marks: make(map[string]int)}
		truth := state{}
		for at := 0; at < 400; at += 10 {
			kind := []OpKind{opPut, opPut, opDelete, opPause, opResume, opGet}[rng.IntN(6)]
			op := s.op(kind, "j", at, at+1, acked)
			if kind == opPut {
				op.Spec = &Spec{Kind: oneShot, Paused: rng.IntN(2) == 0}
			}
			if kind != opPut && !truth.exists {
				op.Outcome, op.Code = refused, codeNotFound
				continue
			}
			if kind == opGet {
				status := map[bool]string{false: "active", true: "paused"}[truth.paused]
				op.Seen = &JobState{Mark: truth.mark, Paused: truth.paused, Status: status}
				continue
			}
			if rng.IntN(4) == 0 { // the server dies; the request took effect before, or never
				op.Outcome, op.Returned = unknown, 0
				s.h.Deaths = append(s.h.Deaths, Death{Sent: ms(at + 1), Gone: ms(at + 2)})
				if rng.IntN(2) == 0 {
					continue
				}
			}
			truth = truth.after(op)
		}
		h := s.History()
		ix := newIndex(h)
		may := ix.trace(ix.ops["j"], func(op *Op, text string) { t.Errorf("seed %d: request %d: %s", seed, op.ID, text) })
		if _, ok := may[truth]; !ok {
			t.Fatalf("seed %d: the truth %+v is not among %v", seed, truth, may)
		}
		if len(may) > 40 {
			t.Fatalf("seed %d: %d states are possible; the trace has lost the thread", seed, len(may))
		}
	}
}
