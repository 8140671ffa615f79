// Package dispatch brings runs to their targets. It owns how an attempt is delivered: concurrency,
// queues, timeouts, connections. What an outcome means, and whether another attempt follows, is the
// scheduler's decision. It also tells the world outside what became of runs, see [Announcer].
//
// # The way of an attempt
//
//	Launch --> ledger --+--> publisher --> confirmer            nats
//	                    |        ^             \
//	                    |        |              +--> replies    request, jetstream
//	                    +--> router (lanes) -----+
//	                              \
//	                               +--> a goroutine             http, handler
//
// The ledger holds every attempt from its launch until its outcome is told, with the deadline of the
// step it is in. So each launch is answered exactly once, whoever comes first: the sender, the
// deadline, Cancel or Close. Everything else only moves attempts along.
//
// # Punctuality
//
// Launch puts the attempt into the ledger and into a queue, and returns: two short critical sections
// and at most one wake-up. A launch of kind nats meets one goroutine and nothing else on its way
// to the connection, so it shares no limit with slower kinds. When launches come faster than they can
// be published, tenants take turns there.
//
// # Isolation
//
// Every other target has a lane: its own queue and its own limit of attempts in flight, so a target
// that hangs holds only its own launches. Above the lanes each kind has one limit, which is far
// higher (16,384 by default, against 64 for a lane): 256 targets of one kind must hang, each under
// full load, before another of that kind waits; then lanes take turns in the order they asked, and the
// timeouts of the hanging attempts keep the turns coming. Kinds share no limit. A lane exists
// only while it has attempts. Within a lane attempts go in the order they came, whoever they belong to:
// tenants that share a target share its queue.
//
// # What success means
//
//	nats       the server confirmed that it has the message: a PING sent after it was answered
//	request    a service replied, without the error headers of a NATS service
//	jetstream  the stream acknowledged the message, or knew its run id already
//	http       a status of 2xx
//	handler    the function returned nil
//
// A failure does not prove that nothing arrived: the connection may be lost after the target took the
// run. Delivery is at least once, under a run id that stays the same.
//
// # What a failure says of another attempt
//
// A target that blames the request refuses the run (Refused of the outcome): the next attempt would
// fail alike. One that asks for a pause gets it (RetryAfter), up to job.RetryAfterMax.
//
//	nats, request, jetstream   refuse with a subject of NATS, of inboxes or of Carillon
//	request    refuses with a service error code of 4xx
//	http       refuses with 3xx, 4xx, a URL that is none, a closed address, an address of this process
//	handler    refuses with [Refuse], asks for a pause with [RetryAfter]
//
// Of 4xx, 408, 425 and 429 do not refuse. Services and web hooks ask with the header Retry-After. Of the
// kinds nats and jetstream no other failure refuses: it is about the connection, permissions or the stream,
// which change.
package dispatch
