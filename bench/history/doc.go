// Package history loads a Carillon server, records what it answers and what it delivers, and checks
// afterwards what the server promised. The programs that break servers share it: [bench/crash] kills one
// process, [bench/failover] the nodes of a cluster.
//
// It shares no code with the product. It uses only the public contract: subjects and JSON on NATS,
// headers at the targets. So a bug in the product's packages cannot hide itself from the checks.
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
// Each job has one client, whose requests do not overlap. So its history is a sequence, and the possible
// states of the server at any moment are a small set; see [states]. A request without an answer may have
// taken effect at any time until the process that received it died; in a cluster, until every node that
// can have received it has given up.
//
// # What explains a second delivery
//
// Delivery is at least once, so a duplicate is allowed, but it needs a reason: the sink refused the
// delivery before it, the server was killed while that delivery was in flight, or its attempt had timed
// out. A duplicate without a reason is a violation.
//
// # A cluster
//
// In a cluster, the server survives the death of a process. So a history has faults instead of deaths:
// each has the time when it began, when the cluster served again, and when everything was healed. Fences
// are LSNs, and the logs show at which LSN each leadership began. So the leadership of each delivery is
// known, and a leader that launches after its successor has begun to is detected, even if it was paused
// or disconnected.
package history
