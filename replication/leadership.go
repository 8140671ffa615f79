package replication

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// leadership is the state of one leadership: the time during which this node holds the lease. mu guards tenure and
// the writes of value; the loop that renews, and release after it has ended, own revision and unsure.
type leadership struct {
	mu       sync.Mutex
	tenure   tenure
	value    leaseValue
	revision uint64
	unsure   bool // the last renewal failed: read the lease before the next one

	ctx      context.Context // ends with the leadership, so that no commit waits for the stream of another leader
	end      context.CancelFunc
	helpers  sync.WaitGroup // goroutines that work beside the engine
	starting atomic.Bool    // the commit that begins the epoch is not in the stream yet
	passed   atomic.Bool    // another node has begun a later epoch
}

// begin begins a leadership with the lease that this node has just taken. Launches may leave at once. begun is
// an instant before the claim was sent: trust must count from before the other nodes can have seen it.
func (n *Node) begin(v leaseValue, revision uint64, begun time.Duration) {
	r, o := &n.leadership, &n.opts
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tenure = tenure{lease: o.Lease, margin: o.Margin, grace: o.Grace}.taken(begun, v.Heirs)
	r.value, r.revision, r.unsure = v, revision, false
	r.starting.Store(true)
	r.passed.Store(false)
	n.trusts()
}

// left returns how long the lease would last without another renewal; 0 if this node distrusts it.
func (r *leadership) left(now time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tenure.left(now)
}

// trusts publishes, for Trust, the instant until which launches may leave. The caller holds the mutex.
func (n *Node) trusts() { n.trusted.Store(int64(n.leadership.tenure.until())) }

// dueEvery is the time between two checks whether a renewal is due. It is well below the shortest time between
// two renewals, a third of the default grace.
const dueEvery = 50 * time.Millisecond

// renewAll renews the lease until ctx ends. It ends the leadership if another node has taken the lease. Every
// other failure leaves the leadership as it is: the tenure ends launches by itself when it has to, and a
// renewal that succeeds in time resumes them.
func (n *Node) renewAll(ctx context.Context) {
	for range ticks(ctx, dueEvery) {
		if !n.leadership.due(n.opts.Boot()) {
			continue
		}
		if err := n.renew(ctx); errors.Is(err, ErrDeposed) {
			n.opts.Logger.Warn("another node has the lease; this one follows", slog.Any("error", err))
			n.leadership.end()
			return
		} else if err != nil && ctx.Err() == nil {
			n.warn("the lease cannot be renewed; trying again", err)
		}
	}
}

// nextDue is [tenure.nextDue].
func (r *leadership) nextDue(now time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tenure.nextDue(now)
}

func (r *leadership) due(now time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tenure.due(now)
}

// errStale says that a read of the lease returned an older state than one that this node knows.
var errStale = errors.New("replication: an old state of the lease was read")

// renew renews the lease once. After a renewal with an unknown outcome it reads the lease first: a leader that
// receives no replies must not go on writing, because the others would see the renewals and believe it alive
// while it does nothing. A leader that may not launch also reads first, as after a standstill: meanwhile
// another node may have led, and the bucket may have been made anew.
func (n *Node) renew(ctx context.Context) error {
	r := &n.leadership
	begun := n.opts.Boot()
	// The heirs count from before the write. A renewal that is stored although its reply is lost has named them.
	next := n.renewal(begun)
	over := r.revision
	if trusted := n.Trust() > 0; r.unsure || !trusted {
		if !trusted && n.isPassed(begun) {
			n.distrust()
			return ErrDeposed
		}
		v, revision, err := n.register.read(ctx)
		damaged := errors.Is(err, errDamagedLease)
		if err != nil && !damaged {
			return err
		}
		begun = n.opts.Boot()
		switch err := r.judge(v, revision, trusted, r.left(begun) > 0); {
		case errors.Is(err, ErrDeposed):
			n.distrust()
			n.foundLease(leaseSeen{value: v, revision: revision, damaged: damaged})
			return err
		case err != nil:
			return err
		}
		// One before that of the last write is of a bucket that has gone back, or from a server that lags.
		if over = revision; revision == 0 || revision > r.revision {
			r.revision = revision
		}
	}
	revision, err := n.register.swap(ctx, next, over)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unsure = err != nil; r.unsure {
		if errors.Is(err, errLost) {
			return nil // most likely an own renewal whose reply was lost; the next read shows it
		}
		return err
	}
	r.value, r.revision = next, revision
	n.hasRenewed(begun, next.Heirs)
	return nil
}

// hasRenewed records that a renewal that began at an instant is stored, with the heirs that it names. The caller holds the mutex.
func (n *Node) hasRenewed(begun time.Duration, heirs []string) {
	t, now := &n.leadership.tenure, n.opts.Boot()
	t.succeeded(begun, now, heirs, n.opts.keepsAcked(), n.lacksOne(t.knownAfter(), now))
	n.trusts()
}

// isPassed reports whether another node is heard that has commits of a later epoch. A leader that may not launch, as after it stood
// still, asks: what the bucket shows can be of before that epoch.
func (n *Node) isPassed(now time.Duration) bool {
	r := &n.leadership
	if r.starting.Load() {
		return false // it reads the log to its end first
	}
	if n.isBehindAnEpoch(now) {
		r.passed.Store(true)
	}
	return r.passed.Load()
}

// judge says what a state of the lease that was read means to its holder: nil to renew at this revision, errStale
// to read again, ErrDeposed to follow. v is empty if there is no lease, or a damaged one. lasts says that the
// lease has not ended yet.
//
// A read can come from a server that was cut off and lacks the newest renewals; it names the holder before this
// one. So a state that is older than the newest own one ends no leadership. A bucket that has gone back looks the same. In either case
// the holder writes its lease over what it read: where it is the server that lags, the write fails; where the bucket has gone back,
// the later term is to win, and a holder that may not launch is not permitted to by that write, see [tenure.succeeded]. A bucket that
// was made anew has no terms; only a holder that may launch knows that no other has led meanwhile.
func (r *leadership) judge(v leaseValue, revision uint64, trusted, lasts bool) error {
	empty := v.Node == ""
	isAnew := empty && r.revision == 0 // as when this holder wrote its lease into a new bucket; that write may be stored
	isOwn := v.Node == r.value.Node && v.Process == r.value.Process && v.Term == r.value.Term && !v.Released
	switch older := isAnew || revision < r.revision && !v.after(r.value); {
	case empty && trusted, !empty && older && (isOwn || v.Term < r.value.Term): // made anew, gone back, or damaged by a foreign program: this node writes its lease again
		return nil
	case older && lasts:
		return errStale
	case empty || v.Node != r.value.Node || v.Term != r.value.Term || v.Released:
		return ErrDeposed
	default:
		return nil
	}
}

// heirsOf returns the heirs that a successor is to name in its claim, so that it can be replaced early from its first instant on: those
// of this node, and this process itself unless it ends. It returns none where any node may lead next: that one takes the lease when
// NATS may not work well, and heirs that have promised nothing yet let it launch for a moment only.
func (n *Node) heirsOf(successor string) []string {
	r := &n.leadership
	r.mu.Lock()
	defer r.mu.Unlock()
	if successor == "" || r.tenure.lease == 0 {
		return []string{}
	}
	next := withoutNode(r.tenure.successors(n.opts.Boot()), successor)
	if !n.resigned() {
		next = append(next, heirOf(n.opts.Node, n.opts.Process))
	}
	slices.Sort(next)
	return next[:min(len(next), heirsMost)]
}

// foundLease passes a state of the lease that a renewal has read to the loop of the node, which otherwise would
// try to take its own old lease again, and promise nothing to the new holder meanwhile. If the loop is behind, the
// watch of the lease has filled its queue, and follows with this state, too.
func (n *Node) foundLease(l leaseSeen) {
	select {
	case n.lease <- l:
	default:
	}
}

// renewal returns the value of the next renewal.
func (n *Node) renewal(now time.Duration) leaseValue {
	r := &n.leadership
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.value
	v.Renewal++
	v.Heirs = r.tenure.trying(now)
	n.trusts() // a new heir counts from now on, so its promise does too
	return v
}

// promised records the promise of another node.
func (n *Node) promised(q holderQuestion) {
	r := &n.leadership
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.Term != r.value.Term || q.Node == n.opts.Node {
		return
	}
	r.tenure.promise(q.heir(), q.Stamp, q.Promise, n.opts.Boot())
	n.trusts()
	if n.host != nil && n.host.lease != nil && !slices.Contains(r.tenure.heirs, q.heir()) {
		n.host.lease.wake() // a renewal is to name it
	}
}

// distrust stops launches for the rest of the leadership, because another node has the lease. The empty tenure
// keeps a promise that arrives later from permitting them again.
func (n *Node) distrust() {
	n.leadership.mu.Lock()
	defer n.leadership.mu.Unlock()
	n.leadership.tenure = tenure{}
	n.endTrust()
}

// release gives the lease up, for the node to, or for any node if to is "". Nothing is launched or renewed
// after it. It writes at the revision that it reads, while the lease is this node's; and again after a failure, until ctx ends. It
// reads first: in a bucket that was made anew, the lease of another node can have the revision that this one remembers. The caller
// has stopped renewAll, which would otherwise renew what this releases.
//
// What it reads of an earlier term is from a bucket that was made anew or has gone back. It writes over that too, if it reads it
// while it might still launch: otherwise a node may have led since that never saw this lease, and so counts terms from 1 again.
func (n *Node) release(ctx context.Context, to string) error {
	r := &n.leadership
	sure, heirs := n.opts.Boot()+n.Trust(), n.heirsOf(to)
	n.distrust()
	v := r.value
	v.Released, v.To, v.Last, v.Heirs = true, to, placeOf(n.local.Last()), heirs
	var failure error
	for least := r.revision; ; {
		now, found, err := n.register.held(ctx, least)
		if err != nil {
			return errors.Join(failure, err)
		}
		isOwn := now.Node == v.Node && now.Process == v.Process && now.Term == v.Term && !now.Released
		if isLost := now.Term < v.Term && n.opts.Boot() < sure; !isOwn && !isLost {
			return nil
		}
		revision, err := n.register.swap(ctx, v, found)
		if err == nil {
			r.mu.Lock()
			r.value, r.revision = v, revision
			r.mu.Unlock()
			return nil
		}
		if failure = err; errors.Is(err, errLost) {
			least = found + 1 // the server that was read from lags
		}
	}
}
