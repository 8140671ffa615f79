package replication

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/job"
)

// oneRegister is a lease that can be taken, or was taken by another node.
type oneRegister struct {
	register
	err    error
	claims int
}

func (r *oneRegister) claim(context.Context, *leaseValue, leaseValue, uint64) (uint64, error) {
	r.claims++
	return 9, r.err
}

func (r *oneRegister) read(context.Context) (leaseValue, uint64, error) {
	return leaseValue{Cluster: testCluster.String(), Node: "c", Term: 2}, 9, nil
}

// successorLocal is the engine of a successor.
type successorLocal struct {
	Local
	*memLog
	node *Node
}

func (l *successorLocal) Last() job.Position                        { return l.memLog.Last() }
func (l *successorLocal) Find(lsn uint64) (at job.Position, k bool) { return l.memLog.Find(lsn) }
func (l *successorLocal) Applied() job.Position                     { return l.memLog.Last() }
func (l *successorLocal) Begin() error {
	_, err := l.node.Append(l.Last().Epoch+1, []byte("a record"))
	return err
}

func (l *successorLocal) Append(epoch uint64, payload []byte) (job.Position, error) {
	f := frameAfter(l.Last(), epoch, string(payload))
	l.add(f)
	return f.At, nil
}

// newSuccessor returns a standby that has read all of a stream, and to which the leader a has handed over.
func newSuccessor(t *testing.T, s *roundsOf, l *memLog, r register) *Node {
	t.Helper()
	began := time.Now()
	o := Options{Node: "b", Process: "pb", Next: testNext, Logger: quiet, Boot: func() time.Duration { return time.Minute + time.Since(began) }}.withDefaults()
	n := &Node{opts: o, id: testCluster, author: authorOf("b"), register: r, peers: newPeers("b")}
	w := &n.writer
	w.cursor = cursor{tail: tail{cluster: testCluster, next: testNext}, stream: s, own: l, applied: l.Last}
	w.log, w.frame, w.kept = l, l.frame, func() bool { return true }
	if err := errors.Join(w.locate(t.Context()), w.catchUp(t.Context(), func(*Frame) error { return nil })); err != nil {
		t.Fatal(err)
	}
	n.local = &successorLocal{memLog: l, node: n}
	n.challenger = challenger{node: "b", process: "pb", lease: o.Lease, grace: o.Grace, takesEarly: true, promises: newPromises(o)}
	n.challenger.saw(o.Boot(), 8, leaseValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Term: 1, Released: true, To: "b", Last: placeOf(l.Last())})
	n.helps = func(context.Context) {}
	n.together = func(do func()) func() { do(); return func() {} }
	ctx, end := context.WithCancel(t.Context())
	n.leadership.ctx, n.leadership.end = ctx, end
	s.rounds = 0
	return n
}

// A successor that has all commits of the leader that hands over to it asks the stream for one message while it claims the lease
// and publishes the record of its epoch.
func TestSuccessorClaimsBesideItsRecord(t *testing.T) {
	s, l, r := &roundsOf{memStream: streamOf(stretch(20, 20)...)}, logOf(stretch(20, 20)...), &oneRegister{}
	n := newSuccessor(t, s, l, r)
	if !n.claim(t.Context()) || n.succession == nil || r.claims != 0 {
		t.Fatalf("it leads with a claim beside its record: %v, after %d claims", n.succession != nil, r.claims)
	}
	if n.Trust() > 0 {
		t.Error("it trusts a lease that it has not claimed")
	}
	if err := n.openOnce(n.leadership.ctx, false); err != nil {
		t.Fatal(err)
	}
	if r.claims != 1 || s.last() != 41 || s.rounds != 1 || l.Last().Epoch != 3 || n.Trust() <= 0 || !n.holds(n.leadership.ctx) {
		t.Errorf("%d claims, %d messages, %d reads of the stream, epoch %d, trust %s", r.claims, s.last(), s.rounds, l.Last().Epoch, n.Trust())
	}
}

// A successor whose claim fails launches nothing by its record, and its log has it as a frame of the stream only.
func TestRecordWithoutClaim(t *testing.T) {
	s, l, r := &roundsOf{memStream: streamOf(stretch(20, 20)...)}, logOf(stretch(20, 20)...), &oneRegister{err: errLost}
	n := newSuccessor(t, s, l, r)
	if !n.claim(t.Context()) {
		t.Fatal("it does not try to lead")
	}
	err := n.open(n.leadership.ctx)
	if !errors.Is(err, errUntaken) || n.Trust() > 0 || n.holds(n.leadership.ctx) {
		t.Errorf("it leads: %v, and trusts for %s", err, n.Trust())
	}
	if s.last() != 41 || l.Last().LSN != 40 || r.claims != 1 {
		t.Errorf("%d messages, its log is at %v, after %d claims", s.last(), l.Last(), r.claims)
	}
	if n.giveBack(); n.succession != nil || n.challenger.value.Node != "c" {
		t.Errorf("then it knows the holder %q", n.challenger.value.Node)
	}
	// Another node that leads accepts the record, and begins the epoch after it.
	next := logOf(stretch(20, 20)...)
	if reader := located(t, s.memStream, next); reader.at.Epoch != 3 || reader.at.LSN != 41 {
		t.Errorf("a reader is at %v", reader.at)
	}
}

// The bucket was made anew while the holder goes on, and the loop of the node, which would take the lease that it knows, has not heard
// of it: it claims nothing, because nobody is there whose epoch a claim would end.
func TestClaimOfALeaseThatIsGone(t *testing.T) {
	for _, isGone := range []bool{false, true} {
		s, l, r := &roundsOf{memStream: streamOf(stretch(20, 20)...)}, logOf(stretch(20, 20)...), &oneRegister{}
		n := newSuccessor(t, s, l, r)
		n.challenger.value.Last = nil // so it claims before it leads
		n.challenger.key = func() uint64 {
			if isGone {
				return 0
			}
			return n.challenger.revision
		}
		if claims := n.claim(t.Context()); claims == isGone || r.claims == 0 != isGone {
			t.Errorf("gone: %t; it has the lease: %t, after %d claims", isGone, claims, r.claims)
		}
	}
}

// A node that is cut off while it reads the log, and whose lease is not confirmed any more when it has read it, does not begin
// its epoch: another node may lead.
func TestEpochNeedsALease(t *testing.T) {
	for name, c := range map[string]struct {
		while time.Duration // that it reads
		leads bool
	}{"read at once": {0, true}, "cut off": {time.Minute, false}} {
		synctest.Test(t, func(t *testing.T) {
			s, l, r := &roundsOf{memStream: streamOf(stretch(20, 20)...)}, logOf(stretch(20, 20)...), &oneRegister{}
			n := newSuccessor(t, s, l, r)
			n.begin(leaseValue{Node: "b", Process: "pb", Term: 2}, 9, n.opts.Boot())
			time.Sleep(c.while)
			err := n.open(n.leadership.ctx)
			if leads := err == nil && s.last() == 41; leads != c.leads || !leads && (!errors.Is(err, errUntrusted) || s.last() != 40) {
				t.Errorf("%s: %v; the stream has %d messages", name, err, s.last())
			}
		})
	}
}

// A node that lacks the last commit of the leader, or that hears of none, claims the lease before it reads the stream. So it does
// if the stream is not as it has read it.
func TestSuccessorThatIsNotLevel(t *testing.T) {
	all := stretch(20, 20)
	for name, change := range map[string]func(*Node, *roundsOf){
		"it lacks a commit":          func(n *Node, _ *roundsOf) { n.challenger.value.Last.LSN++ },
		"an older release":           func(n *Node, _ *roundsOf) { n.challenger.value.Last = nil },
		"for another node":           func(n *Node, _ *roundsOf) { n.challenger.value.To = "" },
		"not read yet":               func(n *Node, _ *roundsOf) { n.writer.imprint = unread },
		"the stream was made anew":   func(_ *Node, s *roundsOf) { s.messages[len(s.messages)-1] = s.messages[0] },
		"another leader has written": func(_ *Node, s *roundsOf) { s.addFrame(frameAfter(all[39].At, 3, "of c")) },
	} {
		s, l, r := &roundsOf{memStream: streamOf(all...)}, logOf(all...), &oneRegister{}
		n := newSuccessor(t, s, l, r)
		change(n, s)
		if !n.claim(t.Context()) {
			t.Errorf("%s: it does not lead", name)
			continue
		}
		beside := n.succession != nil
		if changed := len(s.messages) != 40 || string(s.messages[39]) == string(s.messages[0]); beside != changed {
			t.Errorf("%s: a claim beside the record: %v", name, beside)
		}
		if beside {
			if err := n.openOnce(n.leadership.ctx, false); !errors.Is(err, ErrDeposed) || l.Last().LSN != 40 || n.succession != nil {
				t.Errorf("%s: its epoch begins: %v, the log is at %v", name, err, l.Last())
			}
		}
	}
}

// laggingKeys is a bucket of which the server that answers has an old state.
type laggingKeys struct {
	*racingKeys
	old keyState
}

func (k *laggingKeys) get(ctx context.Context, key string) ([]byte, uint64, error) {
	if key == k.old.key {
		return k.old.value, k.old.revision, nil
	}
	return k.racingKeys.get(ctx, key)
}

func (k *laggingKeys) list(_ context.Context, match string) ([]keyState, error) {
	return []keyState{k.values[match]}, nil
}

// A lease that was just given up is claimed although the server that answers lags, and although the key of the node was written
// since the member looked.
func TestClaimOfALeaseJustGivenUp(t *testing.T) {
	k := &laggingKeys{racingKeys: &racingKeys{values: make(map[string]keyState)}}
	o := Options{Node: "b", Process: "pb", Shards: 2}.withDefaults()
	h := newHostLease(&o, testCluster, k, nil, func(string, error) {})
	ctx := t.Context()
	l := &memberLease{h, 0}
	v := leaseValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Term: 1, Epoch: 1, Renewal: 6}
	at, err := l.swap(ctx, v, 0)
	if err != nil {
		t.Fatal(err)
	}
	k.old = k.values[keyOfShard(0)]
	v.Released, v.To = true, "b"
	if _, err := l.swap(ctx, v, at); err != nil {
		t.Fatal(err)
	}
	known := h.ledger.lease(0)
	holder := nodeValue{Cluster: testCluster.String(), Node: "a", Process: "pa", Epoch: 1, Renewal: 9, Shards: []shardGrant{}}
	if _, err := h.put(ctx, "a", holder, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.claim(ctx, &leaseValue{Cluster: testCluster.String(), Node: "b", Process: "pb", Term: 2}, known.value, known.revision); err != nil {
		t.Errorf("the claim: %v", err)
	}
}

// A node that has handed over does nothing that takes long before its successor leads, for a bounded time.
func TestFormerLeaderYields(t *testing.T) {
	for name, c := range map[string]struct {
		leads, want time.Duration
	}{"the successor leads": {60 * time.Millisecond, 60*time.Millisecond + yieldPause}, "it fails": {time.Hour, yieldTime}} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			boot := func() time.Duration { return time.Minute + time.Since(began) }
			n := &Node{opts: Options{Node: "a", Boot: boot}, peers: newPeers("a"), stop: make(chan struct{})}
			n.peers.heard(beat{Node: "b", Role: RoleLeader, Epoch: 2}, boot()) // of before
			timer := time.AfterFunc(c.leads, func() { n.peers.heard(beat{Node: "b", Role: RoleLeader, Epoch: 4}, boot()) })
			defer timer.Stop()
			n.yield(t.Context(), &service{successor: "b", epoch: 3})
			if took := time.Since(began); took < c.want || took > c.want+2*successorEvery || n.role == RoleLeader {
				t.Errorf("%s: it waited for %s as a %s, want %s", name, took, n.role, c.want)
			}
		})
	}
}
