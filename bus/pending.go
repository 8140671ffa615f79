package bus

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
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

	// Between two looks is the first time, and more if a look takes more than a fiftieth of it, up to the second.
	pendingEvery, pendingEveryMax = 50 * time.Millisecond, 250 * time.Millisecond
	pendingShare                  = 50
	// writeMax bounds a write to a client. For so long the server keeps what waits for a client that it has disconnected.
	writeMax = 2 * time.Second
)

// pendingWatch looks at what the embedded server holds for its connections. For one goroutine.
type pendingWatch struct {
	bus  *Bus
	sent map[uint64]int64 // bytes that each client had sent at the last look
}

// WatchPending bounds what the embedded server holds for clients that do not read, and for this process in a flood, until
// ctx ends. It does nothing without accounts of tenants. It blocks, and is called once.
func (b *Bus) WatchPending(ctx context.Context) {
	if !b.HasAccounts() {
		return
	}
	w := &pendingWatch{bus: b}
	timer := time.NewTimer(pendingEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		began := time.Now()
		w.look()
		timer.Reset(min(max(pendingEvery, pendingShare*time.Since(began)), pendingEveryMax))
	}
}

// guestPending is a client of a tenant at a look.
type guestPending struct {
	id      uint64
	tenant  string
	pending int   // bytes that it has not read
	sent    int64 // bytes that it sent since the last look
}

// look disconnects the clients that are the cause of too much.
func (w *pendingWatch) look() {
	connz, err := w.bus.embedded.Connz(&server.ConnzOptions{Username: true, Limit: max(1, w.bus.opts.ConnectionsMax)})
	if err != nil {
		w.bus.opts.Logger.Warn("what the embedded NATS server holds is not known", slog.Any("error", err))
		return
	}
	sent := make(map[uint64]int64, len(connz.Conns))
	var guests []guestPending
	var full []string // names of connections of requests
	for _, c := range connz.Conns {
		sent[c.Cid] = c.InBytes
		tenant := TenantOf(c.Account)
		switch {
		case c.AuthorizedUser == ownUser && tenant == "":
			if c.Pending > requestsPendingMax && strings.HasPrefix(c.Name, accountConnName) {
				full = append(full, c.Name)
			}
		case c.AuthorizedUser != ownUser:
			guests = append(guests, guestPending{c.Cid, tenant, c.Pending, c.InBytes - w.sent[c.Cid]})
		}
	}
	w.sent = sent
	w.boundUnread(guests)
	for _, name := range full {
		w.boundRequests(guests, w.bus.accountConns.tenantsOf(name))
	}
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
		w.bus.opts.Logger.Warn("clients of the embedded NATS server were disconnected, because they do not read what is sent to them",
			slog.String(job.LogTenant, tenant), slog.Int("clients", n), slog.Int("bytes", sum))
	}
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
	n := 0
	for _, g := range guests {
		if g.tenant == most && g.sent >= senderMin {
			n++
			w.bus.doorman.expel(g.id, most, writeMax)
		}
	}
	if n > 0 {
		w.bus.opts.Logger.Warn("clients of the embedded NATS server were disconnected, because they send requests faster than these can be read",
			slog.String(job.LogTenant, most), slog.Int("clients", n), slog.Int64("bytes", by[most]))
	}
}

// errExpelled is the error of a client that connects too soon after its tenant was too much.
func errExpelled(g Guest, until time.Time) error {
	return fmt.Errorf("%s connects while the tenant pauses, because of what its clients left unread or sent at a time; want an attempt after %s", g, until.UTC().Format(time.RFC3339))
}
