package dispatch

import (
	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/job"
)

// KindStats counts the attempts of one kind of target.
type KindStats struct {
	Queued      int             // accepted and not begun
	QueuedBytes int64           // payload bytes of these
	InFlight    int             // begun and without an outcome
	Delivered   uint64          // ended well, since New
	Failed      uint64          // ended badly, since New
	Ended       [Endings]uint64 // by how, since New: Delivered and Failed in detail
}

// Stats is a reading of a [Dispatcher].
type Stats struct {
	KindStats                              // the sum over all kinds
	ByKind    map[job.TargetKind]KindStats // every kind is there
	Lanes     int                          // of tenants at targets, those with a place taken or asked for
	NATS      NATSStats

	// Took is, by kind, how many seconds attempts took from their launch until they ended, however they did.
	// Those that never left are not in it.
	Took map[job.TargetKind]histogram.Reading
}

// NATSStats is the state of the connection to NATS. The zero value is no connection.
type NATSStats struct {
	Connected  bool
	Reconnects uint64
	Denied     uint64 // messages that the server refused for lack of permission
	Duplicates uint64 // runs that streams took as duplicates, because they have their run ids
}

// Stats returns the counts of this moment. It is cheap enough for a metrics scrape.
func (d *Dispatcher) Stats() Stats {
	out := Stats{ByKind: make(map[job.TargetKind]KindStats), Took: make(map[job.TargetKind]histogram.Reading), Lanes: d.places.count()}
	d.ledger.mu.Lock()
	kinds := d.ledger.kinds
	d.ledger.mu.Unlock()
	for i, k := range kinds {
		if i > 0 {
			out.ByKind[job.TargetKind(i)] = k
			out.Took[job.TargetKind(i)] = d.ledger.took[i].Read()
		}
		out.Queued += k.Queued
		out.QueuedBytes += k.QueuedBytes
		out.InFlight += k.InFlight
		out.Delivered += k.Delivered
		out.Failed += k.Failed
		for how, n := range k.Ended {
			out.Ended[how] += n
		}
	}
	if d.nats != nil {
		out.NATS = d.nats.stats()
		out.NATS.Duplicates = d.link.replies.duplicates.Load()
	}
	return out
}
