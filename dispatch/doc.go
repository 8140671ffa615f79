// Package dispatch brings runs to their targets. It owns how an attempt is delivered: places,
// timeouts, connections. What an outcome means, and whether another attempt follows, is the
// scheduler's decision. It also tells the world outside what became of runs, see [Announcer].
//
// # The way of an attempt
//
//	Reserve --> places      a place, or a call when there is one
//
//	Launch --> ledger --+--> publisher --> confirmer            nats
//	                    |                \
//	                    |                 +--> replies          request, jetstream
//	                    +--> a goroutine                        http, handler
//
// The caller takes a place before it launches. So nothing waits here for its turn: what finds no place stays
// with the caller, where it can be withdrawn, and waiting is no attempt.
//
// The ledger holds every attempt from its launch until its outcome is told, with the deadline of the
// step it is in. So each launch is answered exactly once, whoever comes first: the sender, the
// deadline, Cancel or Close. Everything else only moves attempts along.
//
// # Punctuality
//
// Launch puts the attempt into the ledger and into a queue, and returns: two short critical sections
// and at most one wake-up. What goes to NATS meets one goroutine and nothing else on its way to the
// connection. When launches come faster than they can be published, tenants take turns there.
//
// # Isolation
//
// A tenant has a lane at each target, which is so many places (64 by default): so a target that hangs holds
// only its own places, and one tenant's herd at a host leaves the lane of another tenant alone. Above the
// lanes each kind has one limit, which is far higher (16,384), of which one tenant has three quarters at the
// most. When that is used up tenants take turns, and within a tenant lanes, in the order in which they asked;
// the timeouts of hanging attempts keep the turns coming. Kinds share no limit. A lane exists only while a
// place in it is taken or asked for.
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
