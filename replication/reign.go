package replication

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// reign is the time that this node holds the lease.
type reign struct {
	mu       sync.Mutex
	tenure   tenure
	value    leaseValue
	revision uint64
	unsure   bool // the last renewal failed: read before the next

	ctx     context.Context // ends with the reign
	end     context.CancelFunc
	helpers sync.WaitGroup // what goes on beside the engine
	opening atomic.Bool    // the epoch record is not placed yet
}

func (r *reign) begin(o Options, v leaseValue, revision uint64, begun time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tenure = tenure{lease: o.Lease, margin: o.Margin, cutoff: o.Cutoff, grace: o.Grace, renewed: begun}
	r.value, r.revision, r.unsure = v, revision, false
	r.opening.Store(true)
}

// left returns how long the lease carries on; 0 without trust.
func (r *reign) left(now time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tenure.left(now)
}

// renewalsOfLease is how many renewals go into a lease.
const renewalsOfLease = 15

// renewAll renews the lease until ctx ends, or ends the reign when another node has taken it.
func (n *Node) renewAll(ctx context.Context) {
	tick := time.NewTicker(n.opts.Lease / renewalsOfLease)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := n.renew(ctx); errors.Is(err, ErrDeposed) {
			n.opts.Logger.Warn("another node has the lease; this one follows", slog.Any("error", err))
			n.reign.end()
			return
		} else if err != nil && ctx.Err() == nil {
			n.warn("the lease cannot be renewed; trying again", err)
		}
	}
}

// errStale says that a look at the lease showed what it was before.
var errStale = errors.New("replication: an old state of the lease was read")

// renew renews the lease once. After a renewal whose outcome is unknown it reads first: who gets no
// answers must not go on writing, or the others would take it for alive while it does nothing. So does
// one whose trust is over, as after it stood still: much may have happened, even to the bucket.
func (n *Node) renew(ctx context.Context) error {
	r := &n.reign
	if r.unsure || n.Trust() <= 0 {
		v, revision, err := n.bucket.look(ctx)
		switch {
		case err != nil:
			return err
		case revision == 0 && n.Trust() > 0: // the bucket was made anew
			r.revision = 0
		case revision < r.revision && revision != 0 && n.Trust() > 0:
			return errStale
		case v.Node != r.value.Node || v.Term != r.value.Term || v.Released:
			n.distrust()
			return ErrDeposed
		default:
			r.revision = revision
		}
	}
	begun := n.opts.Boot()
	next := r.value
	next.Renewal++
	revision, err := n.bucket.swap(ctx, next, r.revision)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unsure = err != nil; r.unsure {
		if errors.Is(err, errLost) {
			return nil // most likely a renewal of our own, whose answer was lost: the next look tells
		}
		return err
	}
	r.value, r.revision = next, revision
	r.tenure.succeeded(begun)
	n.trusted.Store(int64(r.tenure.until()))
	return nil
}

// distrust ends the trust for the rest of the reign: another has the lease.
func (n *Node) distrust() {
	n.reign.mu.Lock()
	defer n.reign.mu.Unlock()
	n.reign.tenure = tenure{}
	n.trusted.Store(0)
}

// linkEvery is how often the way to the others is looked at.
const linkEvery = 20 * time.Millisecond

// watchLink keeps the trust up to date with the way to the others, until ctx ends.
func (n *Node) watchLink(ctx context.Context) {
	tick := time.NewTicker(linkEvery)
	defer tick.Stop()
	for {
		linked := n.opts.Conn.IsConnected() && n.opts.Linked()
		n.reign.mu.Lock()
		n.reign.tenure.link(n.opts.Boot(), linked)
		n.trusted.Store(int64(n.reign.tenure.until()))
		n.reign.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// release gives the lease up, for one node or for anybody.
func (n *Node) release(ctx context.Context, to string) error {
	r := &n.reign
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.value
	v.Released, v.To = true, to
	for {
		revision, err := n.bucket.swap(ctx, v, r.revision)
		if err == nil {
			r.revision = revision
			return nil
		}
		now, found, lookErr := n.bucket.look(ctx)
		if lookErr != nil {
			return errors.Join(err, lookErr)
		}
		if now.Node != v.Node || now.Term != v.Term || now.Released {
			return nil
		}
		r.revision = found
	}
}
