package history

import (
	"slices"
	"testing"
	"time"
)

func TestFigures(t *testing.T) {
	s := cleanCluster()
	s.put("shot", 3000, 1, Spec{Kind: oneShot, Due: ms(9000)})
	s.put("rest", 100, 1, Spec{Kind: every, Step: time.Second})
	s.op(opPause, "rest", 200, 201, acked)
	s.deliver("rest", "nats", s.marks["rest"], 5000, 9000)
	h := s.History()
	for i := range h.Deliveries {
		h.Deliveries[i].Target = "http"
	}
	if got := h.AckedPuts()[0]; !slices.Equal(got, []Instant{ms(91), ms(101), ms(101), ms(3001)}) {
		t.Errorf("puts %v", got)
	}
	ticks := h.Ticks()
	if len(ticks) != 11 {
		t.Errorf("%d ticks, want the 11 of the job that nobody touched, each once", len(ticks))
	}
	if got := h.Repeats(); !slices.Equal(got, []Instant{ms(5610)}) {
		t.Errorf("repeats %v", got)
	}
	if got := h.Farewells(); got != nil {
		t.Errorf("farewells %v", got)
	}
	lost, again := s.deliver("rest", "request", s.marks["rest"], 7000, 7001), s.deliver("rest", "request", s.marks["rest"], 7000, 12001)
	if again.Attempt, again.Fence = lost.Attempt+1, lost.Fence+1; again.RunID != lost.RunID {
		t.Fatalf("%s and %s are two runs", lost.RunID, again.RunID)
	}
	if got := s.History().Repeats(); slices.Contains(got, ms(12001)) {
		t.Errorf("repeats %v, and one of them is an attempt whose answer was lost", got)
	}
	s.deliver("tick", "request", s.marks["tick"], 5600, 5700).Fence = 10
	if got := s.History().Farewells(); !slices.Equal(got, []Farewell{{ms(5700), 90 * time.Millisecond}}) {
		t.Errorf("farewells %v", got)
	}
}

// TestMissing counts the ticks of each policy that never arrived, whatever came twice.
func TestMissing(t *testing.T) {
	s := cleanCluster()
	for _, policy := range []string{"skip", "allow"} {
		s.put(policy, 100, 1, Spec{Kind: every, Step: 100 * time.Millisecond, Target: "http", Overlap: policy, Sure: true})
	}
	for due := 1000; due <= 2000; due += 100 {
		s.deliver("allow", "http", s.marks["allow"], due, due+1)
		s.deliver("allow", "http", s.marks["allow"], due, due+2)
		if due < 1500 {
			s.deliver("skip", "http", s.marks["skip"], due, due+1)
		}
	}
	if got := s.History().Missing(ms(1000), ms(2000)); len(got) != 2 || got["allow"] != 0 || got["skip"] != 5 {
		t.Errorf("%v are missing", got)
	}
}

// TestFirstPut looks for the first acknowledgement of what was sent after an instant.
func TestFirstPut(t *testing.T) {
	r := &Recorder{}
	r.End(r.Begin(Op{Kind: opPut}), result{acked, ""}, nil)
	after := Now().Add(time.Microsecond)
	for Now() < after {
	}
	if at := r.FirstPut(after, nil); at != 0 {
		t.Errorf("a put from before counts: %s", at)
	}
	lost, first, get := r.Begin(Op{Kind: opPut}), r.Begin(Op{Kind: opPut}), r.Begin(Op{Kind: opGet})
	r.End(get, result{acked, ""}, nil)
	r.End(lost, result{unknown, ""}, nil)
	r.End(first, result{acked, ""}, nil)
	if at := r.FirstPut(after, nil); at != first.Returned {
		t.Errorf("%s, want %s", at, first.Returned)
	}
}
