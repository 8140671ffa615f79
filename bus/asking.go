package bus

import (
	"log/slog"

	"github.com/carillon-io/carillon/job"
)

// guardBlame is how many requests, or messages, make a tenant the cause of a guard that is behind. One with less may be
// there by chance: its single request was read, or its few messages lie behind those of another.
const guardBlame = 1000

// askingCount counts what each tenant asked and sent since the guard of JetStream was last in time. It has no clock: a
// guard that stays behind has requests that came from a client, however slowly, so that the counts of those grow until one
// of them is the cause. The zero value has counted nothing. For one goroutine.
type askingCount struct {
	asked map[string]int   // requests that the guard has read, by tenant; "" is that of unknown senders
	sent  map[uint64]int64 // messages, by client
}

// add counts what came between two looks.
func (c *askingCount) add(asked map[string]int, guests []guestPending) {
	if c.asked == nil {
		c.asked, c.sent = make(map[string]int), make(map[uint64]int64)
	}
	for tenant, n := range asked {
		c.asked[tenant] += n
	}
	for _, g := range guests {
		if g.messages > 0 {
			c.sent[g.id] += g.messages
		}
	}
}

// reset forgets all counts.
func (c *askingCount) reset() {
	clear(c.asked)
	clear(c.sent)
}

// toBlame returns the tenant because of which requests pile up before the guard: the one from which the guard has read most
// or, if it has read few, the one whose clients sent most messages. A tenant with less than guardBlame of them is none: "".
func (c *askingCount) toBlame(guests []guestPending) (most string) {
	requests := 0
	for tenant, n := range c.asked {
		if n > requests {
			most, requests = tenant, n
		}
	}
	if requests >= guardBlame && most != "" {
		return most
	}
	most = ""
	by := make(map[string]int64)
	for _, g := range guests {
		if by[g.tenant] += c.sent[g.id]; g.tenant != "" && by[g.tenant] >= max(guardBlame, by[most]) {
			most = g.tenant
		}
	}
	return most
}

// senders returns those clients of a tenant that sent most messages, and those that sent a quarter as many.
func (c *askingCount) senders(guests []guestPending, tenant string) (clients []uint64) {
	most := int64(0)
	for _, g := range guests {
		if g.tenant == tenant {
			most = max(most, c.sent[g.id])
		}
	}
	for _, g := range guests {
		if g.tenant == tenant && most > 0 && 4*c.sent[g.id] >= most {
			clients = append(clients, g.id)
		}
	}
	return clients
}

// boundAsked disconnects clients of the tenant that asks JetStream most, while its requests delay those of the others before
// the guard has read them. pending are the bytes that wait for the guard.
func (w *pendingWatch) boundAsked(guests []guestPending, pending int) {
	w.asking.add(w.bus.guard.lanes.takeCame(), guests)
	if !w.bus.guard.isBehind(pending) {
		w.asking.reset()
		return
	}
	tenant := w.asking.toBlame(guests)
	if tenant == "" {
		return
	}
	clients := w.asking.senders(guests, tenant)
	if len(clients) == 0 {
		return
	}
	for _, id := range clients {
		w.bus.doorman.expel(id, tenant, writeMax)
	}
	w.asking.reset() // what these clients sent is no fault of those that stay
	w.bus.opts.Logger.Warn("clients of the embedded NATS server were disconnected, because they send requests to JetStream, or about their account, faster than these can be refused",
		slog.String(job.LogTenant, tenant), slog.Int("clients", len(clients)))
}
