package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/job"
)

// The bounds of the links of tenants. A link costs about 100 KB and nine goroutines, half of them the server's.
const (
	tenantLinksMax = 1024             // default of Options.TenantLinksMax
	linkIdleEvery  = time.Minute      // between two looks for links that nothing uses; two in a row close one
	connectRetry   = 2 * time.Second  // between two attempts to connect
	connectSay     = 30 * time.Second // between two log lines about one tenant that cannot be connected
)

// tenantLinks are the links in the accounts of tenants, each made at the first launch of its tenant and closed when it
// is idle. A launch finds its link by one lookup in a map that is never changed, only replaced.
type tenantLinks struct {
	o       Options
	rules   job.Rules
	ledger  *ledger
	shared  *link // for tenants that have no account of their own, or do not use it
	base    context.Context
	running *sync.WaitGroup

	byTenant atomic.Pointer[map[string]*link]

	mu       sync.Mutex
	old      []*link // in no map any more, and with attempts under way
	retired  linkCounts
	isClosed bool // no link opens any more, so running does not grow
}

// linkCounts are the counters of links that are closed.
type linkCounts struct{ reconnects, denied, duplicates uint64 }

func newTenantLinks(o Options, d *Dispatcher) *tenantLinks {
	t := &tenantLinks{o: o, rules: o.rules(), ledger: d.ledger, shared: d.link, base: d.base, running: &d.running}
	t.byTenant.Store(new(map[string]*link))
	return t
}

// of returns the link for a delivery, in use until leave. It never blocks for long: the connection is made by another
// goroutine. The error is for the attempt. No link is made for a delivery that may not be sent: a tenant without targets may
// have no account to connect to either, and the attempt would fail for that instead, again and again.
func (t *tenantLinks) of(d *job.Delivery) (*link, error) {
	tenant := d.Tenant
	if l := (*t.byTenant.Load())[tenant]; l != nil && l.enter() {
		return l, nil
	}
	if err := checkSubject(t.rules, d); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := (*t.byTenant.Load())[tenant]; l != nil && l.enter() {
		return l, nil
	}
	l, err := t.openLocked(tenant)
	if err != nil {
		return nil, err
	}
	l.enter()
	byTenant := maps.Clone(*t.byTenant.Load())
	if byTenant == nil {
		byTenant = make(map[string]*link, 1)
	}
	byTenant[tenant] = l
	t.byTenant.Store(&byTenant)
	return l, nil
}

// openLocked returns a new link, which connects, or the shared one.
func (t *tenantLinks) openLocked(tenant string) (*link, error) {
	if t.isClosed {
		return nil, ErrStopped
	}
	if t.o.TenantShares != nil && t.o.TenantShares(tenant) {
		return t.shared, nil
	}
	if t.countLocked() >= t.o.TenantLinksMax && !t.closeOneLocked() {
		return nil, fmt.Errorf("%d tenants have attempts to targets of NATS under way, which is the most that this server has connections for", t.o.TenantLinksMax)
	}
	l := newLink(t.o, t.ledger)
	ctx, stop := context.WithCancel(t.base)
	l.stop = stop
	t.running.Go(func() { l.run(ctx, tenant, t.o.TenantNATS) })
	return l, nil
}

// close lets no further link open. Those that are open end with base.
func (t *tenantLinks) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.isClosed = true
}

// countLocked returns the number of links of tenants that are open.
func (t *tenantLinks) countLocked() int {
	n := len(t.old)
	for _, l := range *t.byTenant.Load() {
		if l != t.shared {
			n++
		}
	}
	return n
}

// closeOneLocked closes a link that has no attempts, and reports whether there was one.
func (t *tenantLinks) closeOneLocked() bool {
	closed := false
	t.keepLocked(func(_ string, l *link) bool {
		if closed || l == t.shared || !l.tryClose() {
			return true
		}
		closed = true
		t.retireLocked(l)
		return false
	})
	return closed
}

// keepLocked replaces the map by one with those links that keep selects.
func (t *tenantLinks) keepLocked(keep func(tenant string, l *link) bool) {
	byTenant := maps.Clone(*t.byTenant.Load())
	maps.DeleteFunc(byTenant, func(tenant string, l *link) bool { return !keep(tenant, l) })
	t.byTenant.Store(&byTenant)
}

// retireLocked ends a link that is closed for launches.
func (t *tenantLinks) retireLocked(l *link) {
	l.stop()
	s := l.stats()
	t.retired.reconnects += s.Reconnects
	t.retired.denied += s.Denied
	t.retired.duplicates += s.Duplicates
}

// watch closes idle links until stop is closed.
func (t *tenantLinks) watch(stop <-chan struct{}) {
	tick := time.NewTicker(linkIdleEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.closeIdle()
		case <-stop:
			return
		}
	}
}

// closeIdle closes the links that had no attempt since the last call.
func (t *tenantLinks) closeIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keepLocked(func(_ string, l *link) bool {
		if l == t.shared {
			return true
		}
		now := l.entered.Load()
		if isIdle := now == l.seen; !isIdle || !l.tryClose() {
			l.seen = now
			return true
		}
		t.retireLocked(l)
		return false
	})
	var old []*link
	for _, l := range t.old {
		if !l.tryClose() {
			old = append(old, l)
			continue
		}
		t.retireLocked(l)
	}
	t.old = old
}

// review asks for each tenant again whether it shares.
func (t *tenantLinks) review() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keepLocked(func(tenant string, l *link) bool {
		shares := t.o.TenantShares != nil && t.o.TenantShares(tenant)
		if shares == (l == t.shared) {
			return true
		}
		if l != t.shared {
			t.old = append(t.old, l)
		}
		return false
	})
}

// ReviewTenants asks Options.TenantShares and Options.InFlight again. Launches that it has not sent yet may still leave on
// the way of before. Safe for concurrent use.
func (d *Dispatcher) ReviewTenants() {
	d.places.review()
	if d.tenants != nil {
		d.tenants.review()
	}
}

// stats returns the sums of all links of tenants, and how many are open.
func (t *tenantLinks) stats() (sum NATSStats) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum.Reconnects, sum.Denied, sum.Duplicates = t.retired.reconnects, t.retired.denied, t.retired.duplicates
	add := func(l *link) {
		if l == t.shared {
			return
		}
		s := l.stats()
		sum.Reconnects += s.Reconnects
		sum.Denied += s.Denied
		sum.Duplicates += s.Duplicates
		sum.Tenants++
	}
	for _, l := range *t.byTenant.Load() {
		add(l)
	}
	for _, l := range t.old {
		add(l)
	}
	return sum
}

// run connects a link of a tenant, and then publishes and confirms, until ctx ends.
func (k *link) run(ctx context.Context, tenant string, connect func(string) (*NATS, error)) {
	n := k.connect(ctx, tenant, connect)
	if n == nil {
		return
	}
	k.nats = n
	k.connected.Store(n)
	var running sync.WaitGroup
	running.Go(func() { k.runPublisher(ctx.Done()) })
	running.Go(func() { k.runConfirmer(ctx.Done()) })
	<-ctx.Done()
	n.Close() // before the wait, because a write may hang
	running.Wait()
}

// connect returns a connection that receives replies; nil if ctx has ended. What was launched before an attempt to
// connect failed fails with it, so that it does not pile up here; what may not be sent any more fails for that.
func (k *link) connect(ctx context.Context, tenant string, connect func(string) (*NATS, error)) *NATS {
	var said time.Time
	for {
		n, err := connect(tenant)
		if err == nil {
			if err = k.replies.subscribe(n.conn); err == nil {
				return n
			}
			n.Close()
		}
		if now := time.Now(); now.Sub(said) >= connectSay {
			said = now
			k.logger.Warn("no connection to NATS for the targets of a tenant", slog.String(job.LogTenant, tenant), slog.Any("error", err))
		}
		for _, a := range k.outbox.takeAll(nil) {
			k.ledger.finish(a, cmp.Or(checkSubject(k.rules, a.delivery), err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(connectRetry):
		}
	}
}
