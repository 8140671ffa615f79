// Package tracing follows requests and attempts with OpenTelemetry. It is the only package that knows
// OpenTelemetry: the API and the dispatcher declare what they need of a [Tracer].
//
// # The traces
//
// A request to the API is a span in the trace of its caller, or begins a trace. A run has a trace of its own,
// because it may come years after its registration and a thousand times: each attempt is a span of it, with a
// link to the span of the registration.
//
//	caller's trace     POST /checkout --> jobs.put
//	                                         ^ link
//	the run's trace    attempt http (1) -----+
//	                     attempt http (2)       its parent is attempt 1
//	                     attempt http (3)       the same
//
// The trace id of a run, and the span id of its first attempt, follow from the run's id by a hash. So every
// attempt finds its trace by itself: after a crash, and on the node that takes over. No span is ever open
// longer than an attempt, and none outlives the process.
//
// # Sampling
//
// A request is sampled if its caller's span is; without a caller, by the ratio. A run is sampled if its
// registration was, else by the ratio of its trace id. All attempts of a run are decided alike.
//
// # Bounds
//
// Ended spans wait for the exporter in memory, at most queueMax of them; then they are dropped and counted.
// Nothing here waits for a collector, but Close, which its context bounds.
package tracing
