// Package tracing traces requests and attempts with OpenTelemetry. No other package imports
// OpenTelemetry: the API and the dispatcher each declare an interface of what they need, which [Tracer]
// implements.
//
// # The traces
//
// A request to the API is a span in the trace of its caller, or begins a new trace. Each run has a trace
// of its own, because a job may run a thousand times, and years after its registration. Each attempt is
// a span of the run's trace, with a link to the span of the registration.
//
//	caller's trace     POST /checkout --> jobs.put
//	                                         ^ link
//	the run's trace    attempt http (1) -----+
//	                     attempt http (2)       its parent is attempt 1
//	                     attempt http (3)       the same
//
// The trace id of a run and the span id of its first attempt are a hash of the run's id. So any node can
// compute the trace of an attempt: after a crash, and after a takeover. No span is open longer than one
// attempt, and none outlives the process.
//
// # Sampling
//
// A request is sampled if its caller's span is; a request without a caller's span is sampled by the
// ratio. A run is sampled if its registration was, otherwise if its trace id is within the ratio. So all
// attempts of a run are sampled, or none.
//
// # Bounds
//
// Ended spans wait for the exporter in memory, at most queueMax of them; further ones are dropped and
// counted. Only Close waits for the collector, for as long as its context allows.
//
// # The path of a span
//
// Request (request.go) and Attempt (attempt.go) begin spans; sampler and ids (sampler.go) give the first span
// of a run the decision and the ids that follow from the run's id (run.go). An ended span passes the gate
// (gate.go), which bounds and counts, and then the library's queue, which makes batches on a goroutine of its
// own. The exporter encodes a batch (otlp.go) and posts it (exporter.go). Open (open.go, options.go) builds
// this path, and Close empties it. A Tracer of New (tracer.go) has only its beginning: the spans go to the
// provider of the program.
//
// The package makes no metrics and no logs out of spans, and stores nothing: spans that a crash interrupts
// are lost.
package tracing
