// Package dispatch delivers runs to their targets. It decides how an attempt is delivered: places,
// timeouts, connections. The scheduler decides what an outcome means and whether another attempt
// follows. The package also publishes what became of runs: see [Announcer].
//
// # The path of an attempt
//
//	Reserve --> places      a place, or later a call when one is free
//
//	Launch --> ledger --+--> publisher --> confirmer            nats
//	                    |                \
//	                    |                 +--> replies          request, jetstream
//	                    +--> a goroutine                        http, handler
//
// The caller reserves a place before it launches. So no launch waits here for a place: while none is
// free, the run stays with the caller, where it can be withdrawn, and the wait does not count as an
// attempt.
//
// The ledger holds every attempt from its launch until it is concluded, with the deadline of its present
// step. The sender, the deadline, Cancel or Close concludes an attempt; the first of them determines the
// outcome. So each launch is answered exactly once. All other parts only pass attempts on.
//
// The files have the names of the parts. places has the lanes and their bounds; ledger the attempts and
// their counts, ledger_report the end of an attempt, ledger_watch the deadlines. link ties publisher,
// confirm and replies to one connection (nats), whose losses handover describes. carry runs a sender on a
// goroutine: http, with guard for the addresses that it may reach, or handler. judge and answer say what
// a reply means, failure what becomes of an error. announcer, with its rounds and its stream, is a
// publisher of its own and shares only the connection's type.
//
// # Goroutines
//
// A dispatcher has one goroutine for deadlines and, with NATS, one that publishes and one that confirms;
// the client calls back with replies on another. Only the attempts of the kinds http and handler have a
// goroutine each, because their senders block. The mutexes of places, ledger, replies and denials guard
// tables only: none is held during a call of done, of room or of a target, and none while another one is
// acquired.
//
// # Punctuality
//
// Launch puts the attempt into the ledger and into a queue, and returns: two short critical sections and
// at most one wake-up. One goroutine publishes everything that goes to NATS. When launches arrive faster
// than it can publish them, tenants take turns there.
//
// # Isolation
//
// A tenant has a lane at each target: a number of places, 64 by default. So a target that hangs occupies
// only its own places, and many launches of one tenant at a host leave the lanes of other tenants free.
// Above the lanes, each kind has a much higher limit (16,384; http what the open files allow), of which one tenant may use three
// quarters. When it is used up, tenants get free places in turns, and within a tenant its lanes, in the
// order in which they asked; since hanging attempts time out, places become free again. Kinds share no
// limit. A lane exists only while a place in it is taken or asked for.
//
// # What success means
//
//	nats       the server confirmed the message: it answered a PING that was sent after it
//	request    a service replied, without the error headers of a NATS service
//	jetstream  the stream acknowledged the message, or already had its run id
//	http       a status of 2xx
//	handler    the function returned nil
//
// A failure does not prove that the run did not arrive: the connection may be lost after the target has
// accepted the run. Delivery is at least once, under a run id that never changes.
//
// # What it does not do
//
// The package repeats no attempt, decides no time and stores nothing: after a crash, the scheduler
// launches again what has no outcome in its log. It does not order the attempts of different lanes.
//
// # What a failure says about the next attempt
//
// A target that blames the request refuses the run (Refused in the outcome): the next attempt would fail
// in the same way. A target may also ask for a pause before the next attempt (RetryAfter), of at most
// job.RetryAfterMax.
//
//	nats, request, jetstream   refuse with a subject of NATS, of inboxes or of Carillon
//	request    refuses with a service error code of 4xx
//	http       refuses with 101, 3xx, 4xx, an invalid URL, a closed address, an address of this process
//	handler    refuses with [Refuse], asks for a pause with [RetryAfter]
//
// A target that the run's tenant may not have ends the run (Died in the outcome), whatever its retry policy
// says; nothing is sent to it. Handlers are not restricted.
//
// 408, 425 and 429 do not refuse. Services and web hooks ask for a pause with the header Retry-After.
// Other failures of the kinds nats and jetstream do not refuse: they concern the connection, permissions
// or the stream, all of which can change.
package dispatch
