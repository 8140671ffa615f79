package wal

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// cutKeeps are places to cut a log of 34 commits at: within the last segment, at a border, within an
// older segment, and before everything.
var cutKeeps = []LSN{33, 27, 12, 9, 0}

// TestEachStepOfACutFails stops a cut before and after each of its steps, as a kill does. The log is the
// old one or the cut one, and when it is cut the file is there. A second cut finds it done, or does it.
func TestEachStepOfACutFails(t *testing.T) {
	testkit.NotUnderRace(t, oneAtATime)
	files := newTestLogFrom(t, 1, 34)
	for _, keep := range cutKeeps[:3] {
		found := map[LSN]int{}
		for _, made := range []bool{false, true} {
			for k := 1; ; k++ {
				opts := testOptions(writeContents(t, files))
				steps := stopCut(t, opts, keep, k, made)
				if steps < k {
					break
				}
				opts.disk = idleDisk{}
				found[checkStoppedCut(t, opts, keep)]++
			}
		}
		if found[34] < 10 || found[keep] < 4 || len(found) != 2 {
			t.Fatalf("cut after %d: the log ended at %v; a cut is all or nothing", keep, found)
		}
	}
}

// stopCut lets step k of a cut fail, and returns how many steps were tried.
func stopCut(t *testing.T, opts Options, keep LSN, k int, made bool) (steps int) {
	t.Helper()
	fail := func(string) error {
		if steps++; steps >= k {
			return errInjected
		}
		return nil
	}
	opts.disk = &stepDisk{before: fail}
	if made {
		opts.disk = &stepDisk{after: fail}
	}
	cut, err := CutTail(opts, keep, savedName(opts.Dir))
	if steps < k && (err != nil || cut != int(34-keep)) || steps >= k && (!errors.Is(err, errInjected) || cut != 0) {
		t.Fatalf("cut after %d, stopped at step %d of %d: %d, %v", keep, k, steps, cut, err)
	}
	return steps
}

// checkStoppedCut checks what a stopped cut has left and returns where the log ends.
func checkStoppedCut(t *testing.T, opts Options, keep LSN) LSN {
	t.Helper()
	r, err := Verify(opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, opts)
	last := l.Last().LSN
	if r.Last != l.Last() {
		t.Fatalf("Verify sees the log end at %v, Open at %v", r.Last, l.Last())
	}
	checkFrames(t, l, 1, last)
	mustClose(t, l)
	if last == keep {
		savedFrames(t, savedName(opts.Dir), keep+1, 34)
	}
	again := savedName(opts.Dir) + ".again"
	if cut, err := CutTail(opts, keep, again); err != nil || cut != int(last-keep) {
		t.Fatalf("cut again after %d: %d, %v", keep, cut, err)
	}
	goOn(t, opts, 1, keep)
	return last
}

// TestPowerFailureInACut cuts the power before and after every step of a cut, and opens every directory
// that may be left.
func TestPowerFailureInACut(t *testing.T) {
	testkit.NotUnderRace(t, oneAtATime)
	for _, keep := range cutKeeps {
		found, seen := map[LSN]int{}, map[string]bool{}
		opts := testOptions(newTestLog(t, 34))
		p := newPowerDisk(opts.Dir)
		for name, b := range contents(t, opts.Dir) {
			p.names[name] = &powerFile{synced: b, written: b}
		}
		p.durable = maps.Clone(p.names)
		p.crash = func(p *powerDisk) {
			p.outcomes(func(name string, files map[string]string) {
				if key := fmt.Sprint(files); !seen[key] {
					seen[key] = true
					found[openAfterPowerFailure(t, name, files, keep)]++
				}
			})
		}
		cutting := opts
		cutting.disk = p.stepDisk(t)
		if _, err := CutTail(cutting, keep, savedName(opts.Dir)); err != nil {
			t.Fatal(err)
		}
		if found[34] == 0 || found[keep] == 0 || len(found) != 2 {
			t.Fatalf("cut after %d: the log ended at %v; a cut is all or nothing", keep, found)
		}
		goOn(t, opts, 1, keep)
	}
}

// openAfterPowerFailure opens one outcome, twice, and returns where the log ends.
func openAfterPowerFailure(t *testing.T, name string, files map[string]string, keep LSN) LSN {
	t.Helper()
	opts := testOptions(writeContents(t, files))
	opts.disk = idleDisk{}
	l, err := Open(opts)
	if err != nil {
		t.Fatalf("cut after %d, %s: %v", keep, name, err)
	}
	last := l.Last().LSN
	mustClose(t, l)
	goOn(t, opts, 1, last)
	return last
}
