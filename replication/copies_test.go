package replication

import (
	"testing"
	"time"

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

// TestEndOfAPromiseIsShownByARenewal: while NATS is away, neither notes nor promises come. A standby counts until NATS has stored a renewal
// that began after the end of its promise.
func TestEndOfAPromiseIsShownByARenewal(t *testing.T) {
	r := leadership{tenure: tenure{heirs: []string{"b"}, promised: map[string]time.Duration{"b": 10 * time.Second}}}
	for renewed, want := range map[time.Duration]int{9900 * time.Millisecond: 1, 10100 * time.Millisecond: 0} {
		r.tenure.renewed = renewed
		if heirs := r.promising(); len(heirs) != want {
			t.Errorf("after a renewal at %s: %v count, want %d", renewed, heirs, want)
		}
	}
}
