package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// powerDisk models what a power failure leaves of a directory. A file keeps the bytes it had at its
// last sync; what came later is there, or not, or is something else. A name is what it was at the
// last sync of the directory, or what it became since.
//
// Model: file is an identity, as an inode is. Names map to files; each file has its synced and its
// written bytes.
type powerDisk struct {
	dir     string
	names   map[string]*powerFile // now
	durable map[string]*powerFile // at the last sync of the directory
	crash   func(p *powerDisk)    // called between the steps
}

type powerFile struct{ synced, written string }

func newPowerDisk(dir string) *powerDisk {
	return &powerDisk{dir: dir, names: map[string]*powerFile{}, durable: map[string]*powerFile{}}
}

// stepDisk returns a real disk that keeps this model.
func (p *powerDisk) stepDisk(t *testing.T) *stepDisk {
	return &stepDisk{
		before: func(op string) error { p.observe(t); p.crash(p); return nil },
		after:  func(op string) error { p.observe(t); p.apply(op); p.crash(p); return nil },
	}
}

// observe takes over what the real directory holds: new files, longer files and removed names.
func (p *powerDisk) observe(t *testing.T) {
	now := contents(t, p.dir)
	for name, b := range now {
		if p.names[name] == nil {
			p.names[name] = &powerFile{}
		}
		p.names[name].written = b
	}
	maps.DeleteFunc(p.names, func(name string, _ *powerFile) bool { _, ok := now[name]; return !ok })
}

// apply records what a finished step has made durable. What happens outside of the directory, where a
// cut puts its file, is not modelled.
func (p *powerDisk) apply(op string) {
	verb, name, _ := strings.Cut(op, " ")
	elsewhere := p.names[name] == nil
	if verb == "syncdir" {
		elsewhere = name != filepath.Base(p.dir)
	}
	if elsewhere && name != "" && verb != "remove" {
		return
	}
	switch verb {
	case "create":
		p.names[name].synced = p.names[name].written
	case "rename":
		// observe saw the new content under the old identity; it is the identity of the synced
		// temporary file.
		b := p.names[name].written
		p.names[name] = &powerFile{synced: b, written: b}
	case "syncdir":
		p.durable = maps.Clone(p.names)
	case "write":
		// A write that fills a segment syncs it before the next one appears.
		for _, name := range p.segments()[:len(p.segments())-1] {
			p.names[name].synced = p.names[name].written
		}
	case "sync", "close":
		names := p.segments()
		tail := p.names[names[len(names)-1]]
		tail.synced = tail.written
	}
}

func (p *powerDisk) segments() []string {
	return slices.DeleteFunc(sortedNames(p.texts()), func(name string) bool {
		_, ok := parseSegmentName(name)
		return !ok
	})
}

func (p *powerDisk) texts() map[string]string {
	out := map[string]string{}
	for name, f := range p.names {
		out[name] = f.written
	}
	return out
}

// tails are the ways in which the unsynced end of a file may be found.
var tails = map[string]func(string) string{
	"cut":     func(string) string { return "" },
	"zeros":   func(s string) string { return string(make([]byte, len(s))) },
	"garbage": func(s string) string { return strings.Repeat("\xa5", len(s)) },
	"half":    func(s string) string { return s[:len(s)/2] },
	"holed":   func(s string) string { return string(make([]byte, len(s)/2)) + s[len(s)/2:] },
	"kept":    func(s string) string { return s },
}

// views returns the names that may be found: those of the last sync, those of now, and both with
// one of the changes made or not, since the kernel may write them in any order.
func (p *powerDisk) views() map[string]map[string]*powerFile {
	out := map[string]map[string]*powerFile{"old names": p.durable, "new names": p.names}
	both := maps.Clone(p.durable)
	maps.Copy(both, p.names)
	for name := range both {
		if p.durable[name] != p.names[name] {
			out["only "+name] = withName(p.durable, name, p.names[name])
			out["all but "+name] = withName(p.names, name, p.durable[name])
		}
	}
	return out
}

func withName(names map[string]*powerFile, name string, f *powerFile) map[string]*powerFile {
	names = maps.Clone(names)
	if names[name] = f; f == nil {
		delete(names, name)
	}
	return names
}

// outcomes calls fn with each directory that a power failure may leave now.
func (p *powerDisk) outcomes(fn func(name string, files map[string]string)) {
	for view, names := range p.views() {
		for tail, spoil := range tails {
			files := map[string]string{}
			for name, f := range names {
				unsynced, ok := strings.CutPrefix(f.written, f.synced)
				if !ok {
					unsynced = ""
				}
				files[name] = f.synced + spoil(unsynced)
			}
			fn(view+", "+tail, files)
		}
	}
}

// idleDisk syncs nothing: for opening the many outcomes quickly.
type idleDisk struct{ osDisk }

func (idleDisk) syncDir(string) error { return nil }

func (idleDisk) write(path string, src io.Reader) error {
	b, err := io.ReadAll(src)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, fileMode)
}

func (d idleDisk) journal(dir string, segmentBytes int) (journal, error) {
	j, err := d.osDisk.journal(dir, segmentBytes)
	return idleJournal{j}, err
}

// idleJournal does the same for the library.
type idleJournal struct{ journal }

func (idleJournal) Sync() error { return nil }

// TestPowerFailure cuts the power before and after every step of a log's life, and opens every
// directory that may be left. The log must open without an operator, with all that was
// acknowledged.
func TestPowerFailure(t *testing.T) {
	testkit.NotUnderRace(t, oneAtATime)
	var c ledger
	opened, seen := 0, map[string]bool{}
	opts := testOptions(filepath.Join(t.TempDir(), "wal"))
	p := newPowerDisk(opts.Dir)
	p.crash = func(p *powerDisk) {
		p.outcomes(func(name string, files map[string]string) {
			key := fmt.Sprint(files, c)
			if seen[key] {
				return
			}
			seen[key] = true
			opened++
			check := testOptions(writeContents(t, files))
			check.disk = idleDisk{}
			if _, err := Verify(check.Dir); err != nil {
				t.Fatalf("%s: after %+v: %v", name, c, err)
			}
			c.check(t, check)
		})
	}
	life := opts
	life.disk = p.stepDisk(t)
	// Each life opens what the one before has left; the last finds a segment that is full by its
	// own measure.
	for _, segments := range []int{1, 3, 1} {
		life.SegmentBytes = segments * testSegmentBytes
		if err := c.life(life); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("opened %d outcomes", opened)
}

// TestTornAtEveryByte cuts the last commit at each of its bytes, plainly and followed by zeros.
func TestTornAtEveryByte(t *testing.T) {
	testkit.NotUnderRace(t, oneAtATime)
	dir := newTestLog(t, 4)
	path := segmentFiles(t, dir)[0]
	whole := contents(t, dir)[segmentName(1)]
	for n := range testEntryBytes {
		for _, zeros := range []int{0, n % 3 * testEntryBytes / 2} {
			if n+zeros == 0 {
				continue
			}
			writeFile(t, path, append([]byte(whole[:3*testEntryBytes+n]), make([]byte, zeros)...))
			r, err := Verify(dir)
			if err != nil || r.Last.LSN != 3 || r.TornBytes != int64(n+zeros) {
				t.Fatalf("cut at %d, %d zeros: %+v, %v", n, zeros, r, err)
			}
			if n%50 == 0 {
				opts := testOptions(dir)
				opts.disk = idleDisk{}
				l := mustOpen(t, opts)
				checkFrames(t, l, 1, 3)
				mustClose(t, l)
			}
		}
	}
}

// A payload may hold anything, also frames that pretend to be later commits of this log. They are
// no witnesses: otherwise whoever sends payloads could make a torn tail look like damage, and keep
// the log from opening.
func TestPayloadImitatesFrames(t *testing.T) {
	forged := newChain(base{logID: 12345, before: Position{LSN: 3}})
	var payload []byte
	for range 40 {
		frame, pos := forged.extend(nil, 1, []byte("forged"))
		payload = appendEntry(payload, frame)
		forged.last = pos
	}
	dir := newTestLog(t, 2)
	l := mustOpen(t, testOptions(dir))
	if _, err := l.Append(1, payload); err != nil {
		t.Fatal(err)
	}
	mustKill(t, l)
	editFile(t, segmentFiles(t, dir)[0], func(b []byte) []byte { return b[:len(b)-1] })
	checkFrames(t, mustOpen(t, testOptions(dir)), 1, 2)
}

// A failed sync may lose pages that a later read brings back, so Open never trusts the last segment
// where it lies.
func TestOpenRewritesTheLastSegment(t *testing.T) {
	dir := newClosedLog(t, 5)
	var ops []string
	opts := testOptions(dir)
	opts.disk = &stepDisk{before: func(op string) error { ops = append(ops, op); return nil }}
	mustClose(t, mustOpen(t, opts))
	name := segmentName(1)
	want := []string{"create " + name + tempSuffix, "rename " + name, "syncdir wal", "journal", "close"}
	if !slices.Equal(ops, want) {
		t.Fatalf("Open took %v, want %v", ops, want)
	}
}

// lossyDisk copies something else than the survey has read.
type lossyDisk struct{ osDisk }

func (d lossyDisk) write(path string, src io.Reader) error {
	b, err := io.ReadAll(src)
	if len(b) > 0 {
		clear(b[len(b)/2:])
	}
	return errors.Join(err, d.osDisk.write(path, bytes.NewReader(b)))
}

func TestOpenVerifiesItsCopy(t *testing.T) {
	dir := newTestLog(t, 5)
	opts := testOptions(dir)
	opts.disk = lossyDisk{}
	if _, err := Open(opts); err == nil || !strings.Contains(err.Error(), "the copy differs") {
		t.Fatalf("got %v", err)
	}
	checkFrames(t, mustOpen(t, testOptions(dir)), 1, 5)
}
