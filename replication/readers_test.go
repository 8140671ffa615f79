package replication

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// readersWorld are the peers of a node "own" that reads rows up to version 6. Its clocks run together.
type readersWorld struct {
	*testing.T
	peers
	now time.Duration
}

func newReadersWorld(t *testing.T) *readersWorld {
	return &readersWorld{t, newPeers("own"), time.Hour}
}

// readersEpoch is the wall clock when the boot clock reads 0.
const readersEpoch instant.Millis = 1e12

func (w *readersWorld) wall() instant.Millis {
	return instant.Of(readersEpoch.Time().Add(w.now))
}

// hears lets a beat of a node arrive.
func (w *readersWorld) hears(node string, rows byte, tells map[string]job.Reading) {
	w.heard(beat{Node: node, Rows: rows, Time: w.wall(), Release: "1.2", Reads: tells}, w.now)
}

// wants compares the nodes that cannot read version 6 with those that are wanted: "a:5 b:4".
func (w *readersWorld) wants(why, want string) {
	w.Helper()
	var got []string
	for _, r := range w.older(6, w.now) {
		got = append(got, fmt.Sprint(r.Node, ":", r.Rows))
	}
	if strings.Join(got, " ") != want {
		w.Errorf("%s: older are %q, want %q", why, got, want)
	}
}

// TestReadersOutliveTheirProcesses: a node that may come back within ten minutes counts, whether it has ended by itself,
// and whether this process or the one before it heard it.
func TestReadersOutliveTheirProcesses(t *testing.T) {
	w := newReadersWorld(t)
	w.hears("a", 5, nil)
	w.hears("b", 6, nil)
	w.hears("own", 3, nil)
	w.wants("both were heard", "a:5")
	w.leaves("a")
	w.wants("a has ended by itself", "a:5")

	w.now += 4 * time.Minute
	next := newReadersWorld(t)
	next.now = w.now
	next.remember(w.reads(w.now), w.wall(), w.now)
	next.wants("the next process", "a:5")
	next.now += 6*time.Minute + time.Second
	next.wants("ten minutes after the last beat", "")
}

// TestReadersFollowTheNewestBeat: of two versions of a node the one of its newer beat counts, and a beat that arrives
// counts in any case, because the clock of its node may have been put back.
func TestReadersFollowTheNewestBeat(t *testing.T) {
	w := newReadersWorld(t)
	earlier := w.wall()
	w.now += time.Second
	w.hears("a", 6, nil)
	w.hears("b", 6, map[string]job.Reading{"a": {Rows: 5, Time: earlier}})
	w.wants("b has not heard that a was upgraded", "")
	w.now += time.Second
	w.hears("b", 6, map[string]job.Reading{"a": {Rows: 4, Time: w.wall()}, "own": {Rows: 3, Time: w.wall()}, "a b": {Rows: 3, Time: w.wall()}})
	w.wants("b has heard that a went back", "a:4")
	w.heard(beat{Node: "a", Rows: 6, Time: earlier - 3600_000}, w.now)
	w.wants("a's clock was put back", "")
}

// TestReadersAreForgottenTogether: two nodes that tell each other of a third one do not keep it.
func TestReadersAreForgottenTogether(t *testing.T) {
	a, b := newReadersWorld(t), newReadersWorld(t)
	a.readers.own, b.readers.own = "a", "b"
	a.hears("gone", 3, nil)
	for range 10 * 60 {
		a.now, b.now = a.now+time.Second, b.now+time.Second
		b.hears("a", 6, a.reads(a.now))
		a.hears("b", 6, b.reads(b.now))
	}
	a.wants("after ten minutes", "gone:3")
	b.wants("after ten minutes", "gone:3")
	for range 60 {
		a.now, b.now = a.now+time.Second, b.now+time.Second
		b.hears("a", 6, a.reads(a.now))
		a.hears("b", 6, b.reads(b.now))
	}
	a.wants("after eleven minutes", "")
	b.wants("after eleven minutes", "")
}

// TestReadersAreBounded: a beat that names many nodes fills no table.
func TestReadersAreBounded(t *testing.T) {
	w, many := newReadersWorld(t), make(map[string]job.Reading)
	for i := range 10 * peersMost {
		many[fmt.Sprint("n", i)] = job.Reading{Rows: 3, Time: w.wall()}
	}
	w.hears("a", 6, many)
	if n := len(w.older(6, w.now)); n != peersMost-1 {
		t.Errorf("%d nodes are remembered, want %d", n, peersMost-1)
	}
}
