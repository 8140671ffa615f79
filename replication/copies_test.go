package replication

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestDiskThatHangsDelaysOnce: a standby whose disk hangs repeats its last note with each beat. It comes into step
// again with the commit that was waited for, and with no note before that one.
func TestDiskThatHangsDelaysOnce(t *testing.T) {
	var c copies
	at := func(lsn uint64) job.Position { return job.Position{Epoch: 1, LSN: lsn} }
	lacks := func(lsn uint64) bool {
		lacks, _ := c.lack(at(lsn), []string{"b"})
		return lacks
	}
	c.noted("b", at(100), 100, false)
	if !lacks(101) {
		t.Fatal("a standby that has all commits is not in step")
	}
	c.outOfStep(at(101))
	for range 3 {
		c.noted("b", at(100), 101, false)
		if lacks(102) {
			t.Fatal("a repeated note of a disk that hangs made the next commit wait")
		}
	}
	c.outOfStep(at(102))
	c.noted("b", at(101), 102, false)
	if lacks(103) {
		t.Error("it is in step without the newest commit that was waited for")
	}
	c.noted("b", at(102), 103, false)
	if !lacks(104) {
		t.Error("its disk writes again, and it is not in step")
	}
}
