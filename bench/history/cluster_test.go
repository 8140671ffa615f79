package history

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// cleanCluster tells of ten seconds of two nodes, the first of which is killed at 5.0 s: the second serves
// from 5.6 s on under epoch 2, and the first is back at 7.0 s. Every promise is kept.
func cleanCluster() *story {
	s := &story{marks: make(map[string]int)}
	s.h.Cluster = true
	s.h.Final = &Final{At: ms(11500), Horizon: ms(10000), Jobs: make(map[string]JobState), Runs: make(map[string][]Run)}
	s.h.Starts = []Start{{Ready: ms(0), Epoch: 1}, {Ready: ms(5600), Epoch: 2}}
	s.h.Faults = []Fault{{Kind: "kill9-leader", Takeover: true, From: ms(5000), Served: ms(5600), Healed: ms(7000)}}
	s.tellManual()
	mark := s.put("tick", 90, 1, Spec{Kind: every, Step: time.Second, Target: "request"})
	for due := 600; due <= 10600; due += 1000 {
		s.run("tick", due, "succeeded")
		arrived := due + 1
		if due == 5600 {
			s.fence = 19
			arrived = 5612
			s.deliver("tick", "request", mark, 4600, 5610) // its outcome died with the first node
		}
		s.deliver("tick", "request", mark, due, arrived)
	}
	s.final("tick", mark, "active", 1)
	runs := make(map[string]bool)
	for _, d := range s.h.Deliveries {
		runs[d.RunID] = true
	}
	s.h.Final.Logs = []Log{
		{Node: "n1", Commits: commits(1, 40, 20), Runs: runs},
		{Node: "n2", Commits: commits(10, 40, 20), Runs: runs},
	}
	return s
}

// commits are the commits of an LSN range, of epoch 1 before a takeover and of epoch 2 from it on.
func commits(first, last, takeover uint64) []Commit {
	var out []Commit
	for lsn := first; lsn <= last; lsn++ {
		c := Commit{LSN: lsn, Epoch: 1, Hash: fmt.Sprint("h", lsn)}
		if lsn >= takeover {
			c.Epoch = 2
		}
		out = append(out, c)
	}
	return out
}

// clusterFaults are planted in cleanCluster.
var clusterFaults = []fault{
	{"two nodes differ in a commit", "logs", func(s *story) { s.h.Final.Logs[1].Commits[20].Hash = "other" }},
	{"a commit is of two epochs", "logs", func(s *story) { s.h.Final.Logs[1].Commits[9].Epoch = 2 }},
	{"an epoch falls", "logs", func(s *story) { s.h.Final.Logs[0].Commits[39].Epoch = 1 }},
	{"a log has a hole", "logs", func(s *story) {
		s.h.Final.Logs[1].Commits = append(s.h.Final.Logs[1].Commits[:3], s.h.Final.Logs[1].Commits[4:]...)
	}},
	{"a takeover keeps the epoch", "reigns", func(s *story) {
		s.h.Starts = s.h.Starts[:1]
		s.h.Final.Logs = []Log{{Node: "n1", Commits: commits(1, 40, 99)}}
	}},
	{"a reign leaves no trace", "reigns", func(s *story) {
		s.h.Final.Logs = []Log{{Node: "n1", Commits: commits(1, 40, 99)}}
	}},
	{"a paused leader goes on as if it led", "old reigns", func(s *story) {
		for i := range 30 {
			d := s.deliver("tick", "request", s.marks["tick"], 6600, 8000+i)
			d.Fence = 10
		}
	}},
	{"a run arrives once too often", "copies", func(s *story) {
		s.deliver("tick", "request", s.marks["tick"], 4600, 5611).Fence = 35
	}},
	{"a run of no accepted commit", "accepted runs", func(s *story) {
		for _, l := range s.h.Final.Logs {
			delete(l.Runs, runID("tick", 8600))
		}
	}},
	{"a second leader's version of a tick", "duplicates", func(s *story) {
		s.deliver("tick", "request", s.marks["tick"], 8600, 8700)
	}},
}

// TestForgotten lets a request without an answer take effect as long as anything is broken, and no
// longer.
func TestForgotten(t *testing.T) {
	h := cleanCluster().h
	for invoked, want := range map[int]Instant{
		4500: ms(7000).Add(forgetWait), 6000: ms(7000).Add(forgetWait), 7500: ms(7500).Add(forgetWait),
	} {
		if got := h.settled(&Op{Invoked: ms(invoked), Outcome: unknown}); got != want {
			t.Errorf("a request of %s is settled at %s, want %s", ms(invoked), got, want)
		}
	}
}

func TestReigns(t *testing.T) {
	h := cleanCluster().History()
	got := h.Reigns()[0]
	want := []Reign{{Epoch: 1, Begin: 1, First: ms(601)}, {Epoch: 2, Begin: 20, First: ms(5610)}}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, want %v", got, want)
	}
	if n := reignOf(got, 0); n != -1 {
		t.Errorf("fence 0 is of reign %d", n)
	}
}

// TestHeld lets a network hold back what the old leader sent, and let go of it when it is whole.
func TestHeld(t *testing.T) {
	s := cleanCluster()
	s.h.Faults[0].Released = ms(6500)
	for i := range 10 * farewellsMax {
		s.deliver("tick", "request", s.marks["tick"], 4600, 6501+i).Fence = 10
	}
	for _, v := range ViolationsOf(CheckAll(s.History())) {
		if v.Check != "copies" { // so many copies of one run come of no network
			t.Errorf("accused: %s", v)
		}
	}
}

// TestNotHeld accuses a leader whose launches come over HTTP, which no network held back.
func TestNotHeld(t *testing.T) {
	s := cleanCluster()
	s.h.Faults[0].Released = ms(6500)
	for i := range 2 * farewellsMax {
		s.deliver("tick", "http", s.marks["tick"], 6600, 6601+i).Fence = 10
	}
	for _, v := range ViolationsOf(CheckAll(s.History())) {
		if v.Check == "old reigns" {
			return
		}
	}
	t.Error("launches of a leader that was replaced pass for held back")
}

// TestTakenOver takes a new leadership for the reason of a second launch that came just before it began, and
// of no other.
func TestTakenOver(t *testing.T) {
	for first, accused := range map[int]bool{5500: false, 3900: true} {
		s := cleanCluster()
		s.h.Faults[0].Served = s.h.Faults[0].From // what followed is no outage
		s.deliver("tick", "request", s.marks["tick"], 3600, first).Fence = 10
		s.deliver("tick", "request", s.marks["tick"], 3600, 6000).Fence = 35
		found := false
		for _, v := range ViolationsOf(CheckAll(s.History())) {
			found = found || v.Check == "duplicates" && v.At == ms(first)
		}
		if found != accused {
			t.Errorf("a run that arrived at %s, and again under the next leadership: accused %t, want %t", ms(first), found, accused)
		}
	}
}

// TestFarewell lets a few launches of a paused leader arrive when it goes on: they were in its hands.
func TestFarewell(t *testing.T) {
	s := cleanCluster()
	for i := range farewellsMax {
		s.deliver("tick", "request", s.marks["tick"], 6600, 6800+i).Fence = 10
	}
	for _, v := range ViolationsOf(CheckAll(s.History())) {
		if v.Check == "old reigns" || v.Check == "attempts" {
			t.Errorf("accused: %s", v)
		}
	}
}

// TestPauseBeforeAllIsLevel: what comes due between a takeover and the end of the fault may wait for NATS, and a pause
// withdraws what waits; later than that it must have been launched.
func TestPauseBeforeAllIsLevel(t *testing.T) {
	for due, accused := range map[int]bool{6000: false, 7500: true} {
		s := cleanCluster()
		mark := s.put("late", 5700, 1, Spec{Kind: oneShot, Due: ms(due), Target: "request"})
		s.op(opPause, "late", due+1900, due+1901, acked).Version = 2
		s.run("late", due, "skipped")
		s.find("late", due).Reason = "paused"
		s.op(opResume, "late", 9700, 9701, acked).Version = 3
		s.final("late", mark, "completed", 3)
		found := false
		for _, v := range ViolationsOf(CheckAll(s.History())) {
			found = found || v.Check == "one-shots"
		}
		if found != accused {
			t.Errorf("due at %s and paused 1.9 s later: accused %t, want %t", ms(due), found, accused)
		}
	}
}

// TestPreparation repeats a run while the program prepares a fault, which resets connections; without the preparation
// the same history is accused.
func TestPreparation(t *testing.T) {
	accused := func(prepare ...Fault) (n int) {
		s := cleanCluster()
		s.h.Faults = append(prepare, s.h.Faults...)
		again := s.deliver("tick", "request", s.marks["tick"], 2600, 2650)
		again.Attempt, again.Fence = 2, 10 // under the first leader
		return len(ViolationsOf(CheckAll(s.History())))
	}
	if accused() == 0 {
		t.Error("a repeat without a reason passes")
	}
	if n := accused(Fault{Kind: "preparation", Prepares: true, From: ms(2500), Served: ms(2700), Healed: ms(2700)}); n > 0 {
		t.Errorf("%d accusations of a repeat during a preparation", n)
	}
}

// TestHeldByServer lets a NATS server that stood still deliver what lay in its sockets: the first attempt of a run arrives
// after the second. What came later, was due later, or came by another way was launched in that order.
func TestHeldByServer(t *testing.T) {
	tests := []struct {
		name    string
		target  string
		due     int
		arrived int
		halted  bool
		accused bool
	}{
		{"held", "request", 5700, 6501, true, false},
		{"held, a plain publish", "nats", 5700, 7490, true, false},
		{"no server stood still", "request", 5700, 6501, false, true},
		{"before the server went on", "request", 5700, 6499, true, true},
		{"long after the server went on", "request", 5700, 7502, true, true},
		{"due after the server went on", "request", 6501, 6900, true, true},
		{"over HTTP", "http", 5700, 6501, true, true},
		{"stored by a stream", "jetstream", 5700, 6501, true, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := cleanCluster()
			s.h.Faults[0].Halted, s.h.Faults[0].Mended = test.halted, ms(6500)
			mark := s.put("swap", 5650, 1, Spec{Kind: oneShot, Due: ms(test.due), Target: test.target})
			s.run("swap", test.due, "succeeded")
			s.final("swap", mark, "completed", 1)
			for _, l := range s.h.Final.Logs {
				l.Runs[runID("swap", test.due)] = true
			}
			second := s.deliver("swap", test.target, mark, test.due, test.arrived-10)
			second.Attempt, second.Fence = 2, 36
			s.deliver("swap", test.target, mark, test.due, test.arrived).Fence = 35
			var accusers []string
			for _, v := range ViolationsOf(CheckAll(s.History())) {
				if v.Job == "swap" {
					accusers = append(accusers, v.Check)
				}
			}
			if slices.Contains(accusers, "attempts") != test.accused || !test.accused && accusers != nil {
				t.Errorf("accused by %q; want it accused: %t", accusers, test.accused)
			}
		})
	}
}

// TestFrozenLeaderIsFound accuses a leader that stood still together with its NATS server and then launches on, although
// another has replaced it: the server's sockets are no excuse for it.
func TestFrozenLeaderIsFound(t *testing.T) {
	s := cleanCluster()
	s.h.Faults[0].Halted, s.h.Faults[0].Mended = true, ms(6500)
	for i := range 2 * farewellsMax {
		s.deliver("tick", "request", s.marks["tick"], 5600, 6501+i).Fence = 10
	}
	if !slices.ContainsFunc(ViolationsOf(CheckAll(s.History())), func(v Violation) bool { return v.Check == "old reigns" }) {
		t.Error("launches of a leader that was replaced pass for held in a server")
	}
}
