package dispatch

import "github.com/carillon-io/carillon/job"

// KindStats counts the attempts of one kind of target.
type KindStats struct {
	Queued      int    // accepted and not begun
	QueuedBytes int64  // payload bytes of these
	InFlight    int    // begun and without an outcome
	Delivered   uint64 // ended well, since New
	Failed      uint64 // ended badly, since New; launches refused by a full queue included
}

// Stats is a reading of a [Dispatcher].
type Stats struct {
	KindStats                              // the sum over all kinds
	ByKind    map[job.TargetKind]KindStats // every kind is there
	Lanes     int                          // targets with attempts, nats not counted
	NATS      NATSStats
}

// NATSStats is the state of the connection to NATS. The zero value is no connection.
type NATSStats struct {
	Connected  bool
	Reconnects uint64
	Denied     uint64 // messages that the server refused for lack of permission
}

// Stats returns the counts of this moment. It is cheap enough for a metrics scrape.
func (d *Dispatcher) Stats() Stats {
	out := Stats{ByKind: make(map[job.TargetKind]KindStats), Lanes: int(d.router.open.Load())}
	d.ledger.mu.Lock()
	kinds := d.ledger.kinds
	d.ledger.mu.Unlock()
	for i, k := range kinds {
		if i > 0 {
			out.ByKind[job.TargetKind(i)] = k
		}
		out.Queued += k.Queued
		out.QueuedBytes += k.QueuedBytes
		out.InFlight += k.InFlight
		out.Delivered += k.Delivered
		out.Failed += k.Failed
	}
	if d.nats != nil {
		out.NATS = d.nats.stats()
	}
	return out
}
