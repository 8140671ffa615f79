package bus

import "time"

// A tenant that is too much again within expelForgets after its pause has a pause that is expelFactor times as long, up to
// expelMax: a flood comes back as soon as it may, and each time it comes costs the others.
const (
	expelForgets, expelMax = time.Minute, time.Minute
	expelFactor            = 4
)

// expulsion is the pause of a tenant.
type expulsion struct {
	until time.Time // before it, the tenant gets no connection
	pause time.Duration
}

// expel disconnects a client, and admits no further one of its tenant for a time: the server keeps what waits for the client
// for so long. Clients without a tenant are those of cluster admins, who come back at once.
func (d *doorman) expel(id uint64, tenant string, pause time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for tenant, e := range d.expelled {
		if now.After(e.until.Add(expelForgets)) {
			delete(d.expelled, tenant)
		}
	}
	if tenant != "" {
		d.expelled[tenant] = d.expelled[tenant].again(now, pause)
	}
	delete(d.clients, id)
	_ = d.server.DisconnectClientByID(id) // it may have gone just now
}

// again returns the pause that follows this one, of at least the given length. During a pause, and for all clients that
// are disconnected together, it is the same.
func (e expulsion) again(now time.Time, pause time.Duration) expulsion {
	if now.Before(e.until) {
		return expulsion{now.Add(e.pause), e.pause}
	}
	next := min(max(pause, expelFactor*e.pause), expelMax)
	return expulsion{now.Add(next), next}
}
