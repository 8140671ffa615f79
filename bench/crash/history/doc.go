// Package history loads a Carillon server, records what it answers and what it delivers, and checks
// afterwards what the server promised. The programs that break servers share it: [bench/crash] kills one
// process, [bench/failover] the nodes of a cluster.
//
// It shares no code with the product. It knows the outside contract alone: subjects and JSON on NATS,
// headers at the targets. A fault in the product's own packages can therefore not hide itself here.
//
// # What is recorded
//
// Three recorders write one history, all on the clock of this machine:
//
//	clients   each request: when it was invoked, when and how it returned (acked, refused, unknown)
//	sinks     each delivery at a target: run id, scheduled time, attempt, fence, time of arrival
//	rig       each death of the server, each start, each fault, and at the end what the server says of
//	          all jobs and runs, and what the logs of its nodes hold
//
// Each job has one client, whose requests do not overlap. So its history is a line, and what the
// server may hold at any moment is a small set of states; see [states]. A request without an answer
// may have taken effect at any time until the process that could have seen it died; in a cluster, until
// everybody who could have seen it has given up.
//
// # What explains a second delivery
//
// Delivery is at least once, so a duplicate is no fault as such. But it needs a reason: the sink
// refused the delivery before it, or the server was killed while that one was in flight, or so
// long passed that the attempt had timed out. A duplicate without a reason is a violation.
//
// # A cluster
//
// The death of a process is not the death of the server there, so a history has faults instead: from when
// something was broken until the cluster did its work again, and until all was whole. Fences are
// positions in the log, and the log tells at which position each reign began. So each delivery is of a
// known reign, and a leader that launches after another has begun to gives itself away, however it was
// paused or cut off.
package history
