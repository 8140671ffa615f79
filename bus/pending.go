package bus

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/job"
)

// What the embedded server keeps of what it could not send yet, with accounts. The server itself bounds each connection
// (max_pending, 64 MiB) and no sum, and it reads from a client as fast as that sends. So the sums are looked at often.
const (
	// guestsPendingMax bounds what waits for all clients together that do not read. Beyond it, those for whom most waits are
	// disconnected until half is left.
	guestsPendingMax = 64 << 20
	// requestsPendingMax bounds the requests that wait for this process on one connection of theirs: half of what would
	// break it. Beyond it, the tenant that sent most since the last look is disconnected.
	requestsPendingMax = 32 << 20
	// senderMin is what a client must have sent between two looks to be disconnected for it.
	senderMin = 256 << 10

	// sentRate and sentBurst bound what the clients of a tenant send, in bytes a second, after a first burst: the server reads
	// them on the processors of all tenants. Registrations of so many bytes would be 160,000 jobs a second. The burst is what
	// all bulk registrations under way may have.
	sentRate, sentBurst = 64 << 20, 64 << 20

	// Between two looks is the first time; or the second, if the process has allocated pendingGrowth since the last look and
	// there are clients of tenants; or the third while these send or are sent more than pendingBusy in the second; and more if
	// a look takes more than a fiftieth of it, up to the last. What waits is memory that was allocated for it, and how much
	// was allocated costs less than a microsecond to read, where a look costs a hundred and allocates for each client.
	// While much passes, a look takes long because it waits for the locks of the clients: then it may take half of the time,
	// or there would be fewest looks when most passes. A hundred readers are sent 50 MiB in ten milliseconds.
	pendingIdle, pendingEvery, pendingSoon = 50 * time.Millisecond, 10 * time.Millisecond, 2 * time.Millisecond
	pendingEveryMax                        = 250 * time.Millisecond
	pendingGrowth                          = 1 << 20
	pendingBusy                            = 256 << 10
	pendingShare, pendingShareBusy         = 50, 2
	// writeMax bounds a write to a client. For so long the server keeps what waits for a client that it has disconnected.
	writeMax = 2 * time.Second
)

// pendingWatch looks at what the embedded server holds for its connections. For one goroutine.
type pendingWatch struct {
	bus  *Bus
	past map[uint64]passed // what had passed to and from each client at the last look
	at   time.Time         // of the last look
	had  uint64            // what the process had allocated at the last look, in bytes
	debt map[string]int64  // bytes that each tenant has sent beyond its rate; none below 1
	// asking counts who delays the guard of JetStream.
	asking askingCount
}

func newPendingWatch(b *Bus) *pendingWatch {
	return &pendingWatch{bus: b, at: time.Now(), debt: make(map[string]int64)}
}

// passed are the bytes that a client had sent, and that were sent or kept for it, and the messages that it had sent.
type passed struct{ in, out, messages int64 }

// WatchPending bounds what the embedded server holds for clients that do not read, and for this process in a flood, until
// ctx ends. It does nothing without accounts of tenants. It blocks, and is called once.
func (b *Bus) WatchPending(ctx context.Context) {
	if !b.HasAccounts() {
		return
	}
	w := newPendingWatch(b)
	timer, rest := time.NewTimer(pendingIdle), pendingIdle
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began, has := time.Now(), allocated()
		if rest == pendingEvery && !w.isDue(began, has) {
			timer.Reset(rest)
			continue
		}
		w.had = has
		rest = w.look(began)
		timer.Reset(restAfter(rest, time.Since(began)))
	}
}

// isDue reports whether to look before pendingIdle has passed since the last look, when the process has allocated so many bytes.
func (w *pendingWatch) isDue(now time.Time, has uint64) bool {
	return has-w.had >= pendingGrowth || now.Sub(w.at) >= pendingIdle
}

// allocated returns how many bytes the process has allocated since its start.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// restAfter returns how long after a look the next one is, when the look asks for a rest and took some time.
func restAfter(rest, took time.Duration) time.Duration {
	share := time.Duration(pendingShare)
	if rest == pendingSoon {
		share = pendingShareBusy
	}
	return min(max(rest, share*took), pendingEveryMax)
}

// guestPending is a client of a tenant at a look.
type guestPending struct {
	id       uint64
	tenant   string
	pending  int   // bytes that it has not read
	sent     int64 // bytes that it sent since the last look
	messages int64 // and messages
}

// look disconnects the clients that are the cause of too much. It returns when it should look again.
func (w *pendingWatch) look(now time.Time) (again time.Duration) {
	connz, err := w.bus.embedded.Connz(&server.ConnzOptions{Username: true, Limit: max(1, w.bus.opts.ConnectionsMax)})
	if err != nil {
		w.bus.opts.Logger.Warn("what the embedded NATS server holds is not known", slog.Any("error", err))
		return pendingEvery
	}
	past, moved := make(map[uint64]passed, len(connz.Conns)), int64(0)
	var guests []guestPending
	var full []string // names of connections of requests
	asked := 0        // bytes that wait for the guard
	for _, c := range connz.Conns {
		past[c.Cid] = passed{c.InBytes, c.OutBytes, c.InMsgs}
		tenant := TenantOf(c.Account)
		switch {
		case c.AuthorizedUser == ownUser && c.Name == guardConnName:
			asked = c.Pending
		case c.AuthorizedUser == ownUser && tenant == "":
			if c.Pending > requestsPendingMax && strings.HasPrefix(c.Name, accountConnName) {
				full = append(full, c.Name)
			}
		case c.AuthorizedUser != ownUser:
			was := w.past[c.Cid]
			guests = append(guests, guestPending{c.Cid, tenant, c.Pending, c.InBytes - was.in, c.InMsgs - was.messages})
			moved += c.InBytes - was.in + c.OutBytes - was.out
		}
	}
	w.past = past
	isBusy := moved > int64(pendingBusy*max(1, now.Sub(w.at)/pendingEvery))
	w.boundUnread(guests)
	w.boundSent(guests, now)
	w.boundAsked(guests, asked)
	w.boundUnanswered(guests)
	for _, name := range full {
		w.boundRequests(guests, w.bus.accountConns.tenantsOf(name))
	}
	switch {
	case isBusy:
		return pendingSoon
	case len(guests) > 0:
		return pendingEvery
	}
	return pendingIdle
}

// boundUnread disconnects those clients for whom most waits, if too much waits for all of them.
func (w *pendingWatch) boundUnread(guests []guestPending) {
	sum := 0
	for _, g := range guests {
		sum += g.pending
	}
	if sum <= guestsPendingMax {
		return
	}
	slices.SortFunc(guests, func(a, b guestPending) int { return cmp.Compare(b.pending, a.pending) })
	left, out := sum, make(map[string]int)
	for _, g := range guests {
		if left <= guestsPendingMax/2 {
			break
		}
		left -= g.pending
		out[g.tenant]++
		w.bus.doorman.expel(g.id, g.tenant, writeMax)
	}
	for tenant, n := range out {
		n += w.expelSenders(guests, tenant) // or what they send would fill the next readers while the server still keeps this
		w.bus.opts.Logger.Warn("clients of the embedded NATS server were disconnected, because they do not read what is sent to them",
			slog.String(job.LogTenant, tenant), slog.Int("clients", n), slog.Int("bytes", sum))
	}
}

// boundSent disconnects the clients of each tenant that sends more than it may. Clients without a tenant are those of cluster
// admins, who have no bound.
func (w *pendingWatch) boundSent(guests []guestPending, now time.Time) {
	paid := int64(now.Sub(w.at).Seconds() * sentRate)
	w.at = now
	for tenant, owes := range w.debt {
		if w.debt[tenant] = owes - paid; owes <= paid {
			delete(w.debt, tenant)
		}
	}
	for _, g := range guests {
		if g.tenant != "" && g.sent > 0 {
			w.debt[g.tenant] += g.sent
		}
	}
	for tenant, owes := range w.debt {
		if owes <= sentBurst {
			continue
		}
		if n := w.expelSenders(guests, tenant); n > 0 {
			w.bus.opts.Logger.Warn("clients of the embedded NATS server were disconnected, because their tenant sends more than it may",
				slog.String(job.LogTenant, tenant), slog.Int("clients", n), slog.Int64("bytes_beyond", owes), slog.Int64("bytes_per_second_max", sentRate))
		}
	}
}

// expelSenders disconnects the clients of a tenant that sent much since the last look, and returns how many there were.
func (w *pendingWatch) expelSenders(guests []guestPending, tenant string) (n int) {
	for _, g := range guests {
		if g.tenant == tenant && g.sent >= senderMin {
			n++
			w.bus.doorman.expel(g.id, tenant, writeMax)
		}
	}
	return n
}

// boundRequests disconnects the clients of that one of some tenants that sent most. What is on its way is lost with them.
func (w *pendingWatch) boundRequests(guests []guestPending, tenants []string) {
	by := make(map[string]int64)
	for _, g := range guests {
		by[g.tenant] += g.sent
	}
	most := ""
	for _, tenant := range tenants {
		if by[tenant] > by[most] || most == "" {
			most = tenant
		}
	}
	if n := w.expelSenders(guests, most); n > 0 {
		w.bus.opts.Logger.Warn("clients of the embedded NATS server were disconnected, because they send requests faster than these can be read",
			slog.String(job.LogTenant, most), slog.Int("clients", n), slog.Int64("bytes", by[most]))
	}
}

// errExpelled is the error of a client that connects too soon after its tenant was too much.
func errExpelled(g Guest, until time.Time) error {
	return fmt.Errorf("%s connects while the tenant pauses, because of what its clients left unread or sent at a time; want an attempt after %s", g, until.UTC().Format(time.RFC3339))
}
