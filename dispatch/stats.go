package dispatch

import (
	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/job"
)

// KindStats counts the attempts of one kind of target. The totals count from New and never fall. Queued
// plus InFlight is the number of open attempts.
type KindStats struct {
	Queued      int             // attempts accepted and not begun
	QueuedBytes int64           // payload bytes of the queued ones
	InFlight    int             // attempts begun and without an outcome
	Delivered   uint64          // total of attempts that succeeded
	Failed      uint64          // total of all others that ended
	Ended       [Endings]uint64 // totals by ending: Delivered and Failed in detail
}

// Stats is a reading of a [Dispatcher]. The counts of attempts are of one instant; the other members are
// read shortly before or after it.
type Stats struct {
	KindStats                              // the sum over all kinds
	ByKind    map[job.TargetKind]KindStats // has an entry for every kind
	Lanes     int                          // lanes with a place taken or asked for
	NATS      NATSStats

	// Took has, by kind, the seconds that attempts took from their launch until they ended, successful or
	// not. Attempts that were never sent are not counted.
	Took map[job.TargetKind]histogram.Reading
}

// NATSStats is the state of the connection to NATS. The zero value means that there is no connection.
type NATSStats struct {
	Connected  bool
	Reconnects uint64
	Denied     uint64 // messages that the server refused for lack of permission
	Duplicates uint64 // runs that streams dropped as duplicates, because they already had their run ids
	Tenants    int    // connections in the accounts of tenants, which are also counted in the members above
}

// Stats returns the present counts. It is cheap enough for each scrape of the metrics.
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
		out.NATS = d.link.stats()
	}
	if d.tenants != nil {
		of := d.tenants.stats()
		out.NATS.Reconnects += of.Reconnects
		out.NATS.Denied += of.Denied
		out.NATS.Duplicates += of.Duplicates
		out.NATS.Tenants = of.Tenants
	}
	return out
}
