package wal

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// stepDisk tells a function of every change to the directory, before and after it is made. An error
// from before keeps the change from being made; either error is returned instead of the outcome.
type stepDisk struct {
	osDisk
	before, after func(op string) error
}

func (d *stepDisk) step(op string, do func() error) error {
	if d.before != nil {
		if err := d.before(op); err != nil {
			return err
		}
	}
	err := do()
	if err == nil && d.after != nil {
		err = d.after(op)
	}
	return err
}

func (d *stepDisk) write(path string, src io.Reader) error {
	return d.step("create "+filepath.Base(path), func() error { return d.osDisk.write(path, src) })
}

func (d *stepDisk) rename(from, to string) error {
	return d.step("rename "+filepath.Base(to), func() error { return d.osDisk.rename(from, to) })
}

func (d *stepDisk) remove(path string) error {
	return d.step("remove "+filepath.Base(path), func() error { return d.osDisk.remove(path) })
}

func (d *stepDisk) syncDir(dir string) error {
	return d.step("syncdir "+filepath.Base(dir), func() error { return d.osDisk.syncDir(dir) })
}

func (d *stepDisk) journal(dir string, segmentBytes int) (j journal, err error) {
	err = d.step("journal", func() error {
		j, err = d.osDisk.journal(dir, segmentBytes)
		return err
	})
	return &stepJournal{journal: j, disk: d}, err
}

// stepJournal does the same for the library.
type stepJournal struct {
	journal
	disk *stepDisk
}

func (j *stepJournal) Write(lsn uint64, b []byte) error {
	return j.disk.step("write", func() error { return j.journal.Write(lsn, b) })
}

func (j *stepJournal) Sync() error { return j.disk.step("sync", j.journal.Sync) }

func (j *stepJournal) Close() error { return j.disk.step("close", j.journal.Close) }

// ledger is what a client of a log knows: which commits were acknowledged, and which one was under
// way.
type ledger struct {
	tried, acked, kept LSN
	done               bool // all is written; only Close is left
}

// life opens a log, fills two and a half segments, truncates in between and closes. It stops at the
// first error.
func (c *ledger) life(opts Options) error {
	l, err := Open(opts)
	if err != nil {
		return err
	}
	defer l.Close()
	c.tried = l.Last().LSN
	for range 2*testSegmentLSNs + 4 {
		if err := c.append(l); err != nil {
			return errors.Join(err, c.staysDead(l))
		}
		if c.acked%testSegmentLSNs == 1 {
			if err := l.MarkDurable(); err != nil {
				return errors.Join(err, c.staysDead(l))
			}
		}
		if c.acked%testSegmentLSNs == 3 {
			c.kept = c.acked
			if err := l.TruncateFront(c.acked); err != nil {
				return errors.Join(err, c.staysDead(l))
			}
		}
	}
	c.done = true
	return l.Close()
}

func (c *ledger) append(l *Log) error {
	c.tried++
	pos, err := l.Append(1, testPayload(c.tried, testPayloadBytes))
	if err == nil {
		c.acked = pos.LSN
	}
	return err
}

// staysDead checks that no call succeeds after a failure.
func (c *ledger) staysDead(l *Log) error {
	for range 2 {
		if _, err := l.Append(1, nil); !errors.Is(err, ErrPoisoned) {
			return fmt.Errorf("Append after a failure returned %v", err)
		}
	}
	if err := l.TruncateFront(1); !errors.Is(err, ErrPoisoned) {
		return fmt.Errorf("TruncateFront after a failure returned %v", err)
	}
	if err := l.MarkDurable(); !errors.Is(err, ErrPoisoned) {
		return fmt.Errorf("MarkDurable after a failure returned %v", err)
	}
	if err := l.Close(); !errors.Is(err, ErrPoisoned) {
		return fmt.Errorf("Close after a failure returned %v", err)
	}
	return nil
}

// check opens the log again: all that was acknowledged and not truncated is there, and at most the
// commit under way besides.
func (c *ledger) check(t *testing.T, opts Options) {
	t.Helper()
	l := mustOpen(t, opts)
	if last := l.Last().LSN; last < c.acked || last > c.tried {
		t.Fatalf("the log ends at %d; %d is acknowledged and %d was tried", last, c.acked, c.tried)
	}
	if c.kept > 0 && l.First() > c.kept {
		t.Fatalf("the log begins at %d; it must keep %d", l.First(), c.kept)
	}
	checkFrames(t, l, l.First(), l.Last().LSN)
	mustAppend(t, l, 1)
	mustClose(t, l)
}

var errInjected = errors.New("injected failure")

// TestEachStepFails lets every single change to the directory fail, once not made at all and once
// made and reported as failed. No call may succeed afterwards, and nothing acknowledged may be
// lost.
func TestEachStepFails(t *testing.T) {
	testkit.NotUnderRace(t, oneAtATime)
	for _, made := range []bool{false, true} {
		for k := 1; failStep(t, k, made); k++ {
		}
	}
}

// failStep lets step k of a log's life fail. It reports whether there is such a step.
func failStep(t *testing.T, k int, made bool) bool {
	t.Helper()
	var ops []string
	fail := func(op string) error {
		if ops = append(ops, op); len(ops) == k {
			return errInjected
		}
		return nil
	}
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	failing := opts
	failing.disk = &stepDisk{before: fail}
	if made {
		failing.disk = &stepDisk{after: fail}
	}
	var c ledger
	err := c.life(failing)
	if len(ops) < k {
		if err != nil {
			t.Fatalf("nothing failed, got %v", err)
		}
		return false
	}
	if !errors.Is(err, errInjected) || c.acked > 0 && !c.done && !errors.Is(err, ErrPoisoned) {
		t.Fatalf("step %d (%s, made=%t): got %v", k, ops[k-1], made, err)
	}
	c.check(t, opts)
	return true
}

// TestSyncsPerAppend pins the contract of Append: one write and one sync, and at a new segment the
// sync of the directory before the acknowledgement.
func TestSyncsPerAppend(t *testing.T) {
	var ops []string
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	opts.disk = &stepDisk{before: func(op string) error {
		ops = append(ops, op)
		return nil
	}}
	l := mustOpen(t, opts)
	for lsn := LSN(1); lsn <= 3*testSegmentLSNs; lsn++ {
		ops = nil
		mustAppend(t, l, 1)
		want := []string{"write", "sync"}
		if lsn%testSegmentLSNs == 0 {
			want = []string{"write", "close", "syncdir wal", "journal"}
		}
		if !slices.Equal(ops, want) {
			t.Fatalf("commit %d took %v, want %v", lsn, ops, want)
		}
	}
}

// TestFileSizeLimit meets a real failing write: the kernel refuses, in the middle of a frame, to
// let a file grow. It needs a process of its own, because the limit is the process's.
func TestFileSizeLimit(t *testing.T) {
	const env = "WAL_TEST_FILE_LIMIT"
	if dir := os.Getenv(env); dir != "" {
		limitedWriter(t, dir)
		return
	}
	dir := filepath.Join(t.TempDir(), "wal")
	cmd := exec.Command(os.Args[0], "-test.run=^TestFileSizeLimit$", "-test.v")
	cmd.Env = append(os.Environ(), env+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Fatalf("the writer: %v\n%s", err, out)
	}
	l := mustOpen(t, testOptions(dir))
	checkFrames(t, l, 1, 4) // four whole frames are below 2000 bytes, the fifth was cut
}

func limitedWriter(t *testing.T, dir string) {
	l := mustOpen(t, testOptions(dir))
	limit := syscall.Rlimit{Cur: 2000, Max: 2000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, l, 4)
	_, err := l.Append(1, testPayload(5, testPayloadBytes))
	if !errors.Is(err, ErrPoisoned) || !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("got %v", err)
	}
	if _, err := l.Append(1, nil); !errors.Is(err, ErrPoisoned) {
		t.Fatalf("a later append: %v", err)
	}
	checkFrames(t, l, 1, 4) // what was durable can still be read
}

// TestStoppedTruncation stops a truncation before and after each of its steps, as a kill does, and
// opens what is there.
func TestStoppedTruncation(t *testing.T) {
	full := contents(t, newTestLog(t, 4*testSegmentLSNs+2))
	firsts := map[LSN]int{}
	for k := 1; ; k++ {
		opts := testOptions(writeContents(t, full))
		steps := 0
		stopping := opts
		stopping.disk = &stepDisk{before: func(op string) error {
			if op == "close" || op == "journal" {
				return nil
			}
			if steps++; steps == k {
				return errInjected
			}
			return nil
		}}
		l, err := Open(stopping)
		if err != nil {
			continue
		}
		err = l.TruncateFront(3*testSegmentLSNs + 1)
		_ = l.Close()
		l = mustOpen(t, opts)
		checkFrames(t, l, l.First(), 4*testSegmentLSNs+2)
		firsts[l.First()]++
		mustClose(t, l)
		if err == nil {
			break
		}
	}
	if got := slices.Sorted(maps.Keys(firsts)); !slices.Equal(got, []LSN{1, 3*testSegmentLSNs + 1}) {
		t.Fatalf("the log began at %v; a truncation is all or nothing", got)
	}
}
