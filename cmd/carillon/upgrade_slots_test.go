package main

import (
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// idOf returns the id of a job.
func (s *rig) idOf(name string) job.ID {
	s.t.Helper()
	j, err := s.cl.Get(s.t.Context(), name)
	if err != nil {
		s.t.Fatalf("get %s: %v", name, err)
	}
	id, err := job.ParseID(j.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// TestUpgradeSlots rolls a cluster of two nodes from a release whose ids carry no slots. While one of them is of that
// release, ids stay as they are, and the way back is open. The first job after that has the slot of its name, and the
// older release refuses the data from then on.
func TestUpgradeSlots(t *testing.T) {
	if !*upgradeFlag {
		t.Skip("run it by make upgrade")
	}
	old, newer := buildChanged(t, "v0", withoutSlots), buildRelease(t, "v1", nil)
	s := newRig(t)
	a := s.start(old, "a")
	b := s.start(old, "b")
	s.mustPut("first", "")

	s.stop(b)
	b = s.start(newer, "b")
	s.eventually("b stands by with v1", leads("a", "b", "v1"))
	s.stop(a)
	s.eventually("b leads", func(c *client.Cluster) bool { return c.Node == "b" && c.Role == "leader" })
	a = s.start(old, "a")
	s.eventually("a stands by", leads("b", "a", "v0"))
	s.mustPut("second", "")
	if first, second := s.idOf("first"), s.idOf("second"); second != first+1 {
		t.Errorf("the second job is %s, after %s; want the next number, which a can read", second, first)
	}

	s.stop(b)
	s.eventually("a leads", func(c *client.Cluster) bool { return c.Node == "a" && c.Role == "leader" })
	s.mustPut("third", "")
	s.start(newer, "b")
	s.eventually("b stands by again", leads("a", "b", "v1"))
	s.stop(a)
	s.eventually("b leads again", func(c *client.Cluster) bool { return c.Node == "b" && c.Role == "leader" })
	a = s.start(newer, "a")
	s.eventually("both are newer", leads("b", "a", "v1"))
	s.mustPut("fourth", "")
	if third, fourth := s.idOf("third"), s.idOf("fourth"); fourth <= third || fourth.Slot() != job.SlotOf("default", "fourth") {
		t.Errorf("the fourth job is %s with slot %d, after %s; want a greater one with slot %d", fourth, fourth.Slot(), third, job.SlotOf("default", "fourth"))
	}
	s.stop(a)
	s.wantRefused(s.start(old, "a")) // its store has the row already
	s.wantRefused(s.start(old, "c")) // it gets the row from the stream, or when it joins
	s.start(newer, "a")
	s.eventually("a stands by", leads("b", "a", "v1"))
	if first, third := s.idOf("first"), s.idOf("third"); third != first+2 {
		t.Errorf("the first job is %s and the third %s; want the ids that they had", first, third)
	}
}
