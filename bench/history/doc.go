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
//
// # The files of the package
//
// A client (client.go; its requests are in acts.go, its random values in draw.go, a job's definition in spec.go) sends
// requests by a caller (caller.go, in the messages of wire.go) to the server, whose deliveries arrive at a sink
// (sink.go, sink_stream.go). All of them write to the recorder (recorder.go). After the load the rig reads the final
// state (read.go) and concludes the history (history.go, cluster.go for what only a cluster has). Then check.go runs
// the checks over an index of it: check_requests.go over replies, check_deliveries.go over deliveries, check_state.go
// and states.go over the jobs at the end, check_runs.go over the runs, check_cluster.go over the logs of a cluster.
// report.go and story.go print the result, figures.go counts what is no promise.
//
// # Limits
//
// A check that examined nothing proves nothing, and the report says so. A check must not fail for a behaviour that the
// documentation allows: where the recorders cannot tell an allowed cause from a fault, the allowed one is assumed, so
// a rare fault can pass in one run and is found by many runs with different seeds.
package history
