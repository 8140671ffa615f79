// Command crash kills a real Carillon server with SIGKILL, again and again under load, and checks
// afterwards what the server promised: nothing acknowledged is lost, every tick is decided once, every
// fired run arrives, nothing arrives early.
//
//	go run ./bench/crash --binary bin/carillon --cycles 30 --seed 1
//
// It shares no code with the product. It knows the outside contract alone: subjects and JSON on
// NATS, headers at the targets, the ready line, the exit status of `wal verify`. A fault in the
// product's own packages can therefore not hide itself here.
//
// # What is recorded
//
// Three recorders write one history, all on the clock of this machine:
//
//	clients   each request: when it was invoked, when and how it returned (acked, refused, unknown)
//	sinks     each delivery at a target: run id, scheduled time, attempt, fence, time of arrival
//	rig       each death of the server, each start, and at the end what the server says of all
//	          jobs and runs
//
// Each job has one client, whose requests do not overlap. So its history is a line, and what the
// server may hold at any moment is a small set of states; see [states]. A request without an answer
// may have taken effect at any time until the process that could have seen it died.
//
// # What explains a second delivery
//
// Delivery is at least once, so a duplicate is no fault as such. But it needs a reason: the sink
// refused the delivery before it, or the server was killed while that one was in flight, or so
// long passed that the attempt had timed out. A duplicate without a reason is a violation.
//
// The server is never killed between a check and the read that it is based on: the final read comes
// after the load has ended and all that was due has had time to arrive.
package main
