package history

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCleanHistory makes sure that the histories which the faults are planted in have none themselves,
// and that they put every check to the test.
func TestCleanHistory(t *testing.T) {
	examined := make(map[string]int)
	for _, tell := range []func() *story{cleanStory, cleanCluster, twoShards} {
		for _, f := range CheckAll(tell().History()) {
			for _, v := range f.Violations {
				t.Errorf("a clean history is accused: %s", v)
			}
			examined[f.Name] += f.Examined
		}
	}
	for _, c := range checks {
		if examined[c.name] == 0 {
			t.Errorf("the clean histories have nothing for %q to look at", c.name)
		}
	}
}

// TestPlantedFaults plants one fault at a time, and wants it found by the check it is meant for.
// Other checks may find it too.
func TestPlantedFaults(t *testing.T) {
	plantAll(t, cleanStory, faults)
	plantAll(t, cleanCluster, clusterFaults)
	plantAll(t, twoShards, shardFaults)
}

func plantAll(t *testing.T, tell func() *story, faults []fault) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			s := tell()
			fault.plant(s)
			var accusers []string
			for _, v := range ViolationsOf(CheckAll(s.History())) {
				accusers = append(accusers, v.Check)
			}
			if !slices.Contains(accusers, fault.finder) {
				t.Errorf("not found by %q; found by %q", fault.finder, accusers)
			}
		})
	}
}

// TestEveryCheckHasItsFault keeps a new check from coming without a proof that it finds something.
func TestEveryCheckHasItsFault(t *testing.T) {
	for _, c := range checks {
		if !slices.ContainsFunc(slices.Concat(faults, clusterFaults, shardFaults), func(f fault) bool { return f.finder == c.name }) {
			t.Errorf("no planted fault for check %q", c.name)
		}
	}
}

// TestExplained lists what looks like a fault and is none.
func TestExplained(t *testing.T) {
	tests := []struct {
		name string
		tell func(*story)
	}{
		{"a put without an answer took effect", func(s *story) {
			op := s.op(opPut, "late", 4990, 0, unknown)
			op.Spec = &Spec{Kind: oneShot, Due: ms(6000), Target: "nats"}
			s.final("late", op.ID, "completed", 1)
			s.run("late", 6000, "succeeded")
			s.deliver("late", "nats", op.ID, 6000, 6001)
		}},
		{"a put without an answer took no effect", func(s *story) {
			s.op(opPut, "late", 4990, 0, unknown).Spec = &Spec{Kind: oneShot, Due: ms(6000), Target: "nats"}
		}},
		{"a run arrives again after a kill, at a higher fence", func(s *story) {
			d := s.deliver("tick", "nats", s.marks["tick"], 4600, 5120)
			d.Fence = 99
		}},
		{"a run that arrived before a kill is skipped after it", func(s *story) {
			s.find("tick", 4600).Status, s.find("tick", 4600).Reason = "skipped", "paused"
		}},
		{"a tick that was due before the pause arrives after it", func(s *story) {
			s.delivery("rest", 4100).Arrived = ms(4250)
		}},
		{"a one-shot due while the server was down is paused before its launch", func(s *story) {
			mark := s.put("late", 4900, 1, Spec{Kind: oneShot, Due: ms(5040), Target: "nats"})
			s.op(opPause, "late", 5102, 5103, acked).Version = 2
			s.run("late", 5040, "skipped")
			s.find("late", 5040).Reason = "paused"
			s.op(opResume, "late", 7000, 7001, acked).Version = 3
			s.final("late", mark, "completed", 3)
		}},
		{"a one-shot whose put got no answer, and came late, is paused before its launch", func(s *story) {
			op := s.op(opPut, "late", 6000, 6500, unknown)
			op.Spec = &Spec{Kind: oneShot, Due: ms(6400), Target: "nats"}
			s.op(opPause, "late", 8000, 8001, acked).Version = 2
			s.run("late", 6400, "skipped")
			s.find("late", 6400).Reason = "paused"
			s.op(opResume, "late", 8500, 8501, acked).Version = 3
			s.final("late", op.ID, "completed", 3)
		}},
		{"a one-shot is put to another instant and back", func(s *story) {
			there := Spec{Kind: oneShot, Due: ms(7000), Target: "nats"}
			s.put("back", 5000, 1, there)
			s.put("back", 5100, 2, Spec{Kind: oneShot, Due: ms(6000), Target: "nats"})
			mark := s.put("back", 5200, 3, there)
			s.run("back", 7000, "skipped")
			s.find("back", 7000).Reason = "superseded"
			s.final("back", mark, "completed", 3)
		}},
		{"a delete and a put without answers took effect in the other order", func(s *story) {
			mark := s.reborn("shot", Spec{Kind: oneShot, Due: ms(6000), Target: "nats"})
			s.run("shot", 6000, "succeeded")
			s.deliver("shot", "nats", mark, 6000, 6001)
		}},
		{"a put without an answer took effect after an acknowledged delete", func(s *story) {
			s.put("late", 5000, 1, Spec{Kind: oneShot, Due: ms(5200), Target: "nats"})
			s.put("late", 5100, 2, Spec{Kind: oneShot, Due: ms(9500), Target: "nats"})
			put := s.op(opPut, "late", 5300, 0, unknown)
			put.Spec = &Spec{Kind: oneShot, Due: ms(8000), Target: "nats"}
			s.op(opDelete, "late", 5400, 5401, acked)
			s.run("late", 8000, "succeeded")
			s.deliver("late", "nats", put.ID, 8000, 8001)
			s.final("late", put.ID, "completed", 1)
		}},
		{"a recurring job was deleted and created again", func(s *story) {
			runs := s.h.Final.Runs["tick"]
			s.reborn("tick", Spec{Kind: every, Step: time.Second, Target: "nats"})
			s.h.Final.Runs["tick"] = slices.DeleteFunc(runs, func(r Run) bool { return r.Scheduled < ms(5000) })
		}},
		{"a triggered job was deleted and created again", func(s *story) {
			s.reborn("hand", Spec{Kind: manual, Due: beginning.Add(farAhead), Target: "http"})
		}},
		{"a run comes due during the read", func(s *story) {
			s.find("tick", 10600).Status = "running"
			s.deliver("tick", "nats", s.marks["tick"], 11600, 11601)
		}},
		{"a publish is lost while the sink has no connection", func(s *story) {
			s.h.Lossy = map[string]bool{"nats": true}
			s.forgetDeliveries("shot")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := cleanStory()
			tt.tell(s)
			for _, v := range ViolationsOf(CheckAll(s.History())) {
				t.Errorf("accused: %s", v)
			}
		})
	}
}

// TestSoFar makes sure that a run that goes on is not accused of what is yet to come.
func TestSoFar(t *testing.T) {
	s := cleanStory()
	s.h.Final = nil
	s.op(opPut, "now", 9000, 0, pending).Spec = &Spec{Kind: oneShot, Due: ms(9500), Target: "nats"}
	for _, v := range ViolationsOf(CheckSoFar(s.History())) {
		t.Errorf("accused: %s", v)
	}
}

func TestReport(t *testing.T) {
	s := cleanStory()
	var out bytes.Buffer
	if failed := Report(&out, s.History(), CheckAll(s.History())); failed != 0 {
		t.Errorf("%d checks failed on a clean history", failed)
	}
	if !strings.HasSuffix(out.String(), "\n22 passed, 0 failed\n") {
		t.Errorf("the last line is not the count of checks:\n%s", out.String())
	}
	out.Reset()
	s.forgetDeliveries("shot")
	if failed := Report(&out, s.History(), CheckAll(s.History())); failed != 2 {
		t.Errorf("%d checks failed, want 2: one-shots and receipts", failed)
	}
	for _, want := range []string{"BROKEN", "VIOLATION  one-shots: job shot", "history of shot", "in the end: definition of request"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
}

// TestWriteFindings: a kept directory says which check failed, also if no job has a part in it.
func TestWriteFindings(t *testing.T) {
	s := cleanStory()
	s.forgetDeliveries("shot")
	path := filepath.Join(t.TempDir(), "findings.txt")
	if err := WriteFindings(path, s.History(), CheckAll(s.History())); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "VIOLATION  one-shots: job shot") {
		t.Errorf("%v:\n%s", err, text)
	}
}
