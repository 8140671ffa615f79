// Package api makes the engine available to callers: it has the verbs, their codec, and the endpoint on NATS. It checks
// each request, passes it to the engine, and replies with the result, or with what was wrong and what would be right.
//
// # The path of a request
//
//	NATS, HTTP, page, this process --> Executor: read --> gate --> room --> check --> engine --> reply
//
// An [Executor] carries out each request, whichever way it came. A way in decides only how a request is read and how its
// reply is sent: [Service] is the endpoint on NATS, [Local] the one for a program that embeds an engine. So one place
// traces, bounds and counts requests, one place recovers from a panic, and one place calls the engine.
//
// A request is bounded before it is read: the connection bounds its bytes, and a gate bounds how many are in
// progress. It is read strictly and directly into the types of package job. An unknown member, a duplicate member or
// a value of the wrong type refuses the whole request, and nothing has changed. Every failure becomes an
// [apierr.Error], and one table gives its status. Other errors are logged as internal, and their text does not reach
// the caller.
//
// Package web is the way in over HTTP.
package api
