// Package api puts the engine before its callers: a NATS service with every verb, and an HTTP server with
// the same verbs, and with health and metrics. It checks what comes in, hands it to the engine, and tells
// what became of it, or what was wrong and what would be right.
//
// # The way of a request
//
//	subject --> tenant --> gate --> read --> check --> engine --> reply
//
// A request is bounded before it is read: the connection bounds its bytes, and a gate bounds how many
// are under way. It is read strictly, straight into the types of package job: an unknown member, a
// second member of the same name or a value of another kind refuses it, and nothing has changed.
// Whatever goes wrong becomes a [job.Error], of which one table makes the status; other errors are
// logged, and their text stays here.
//
// HTTP is a gateway: it makes a request to a verb of method, path, query, headers and body, and that verb
// carries it out behind the same gates. It has no rule of its own about jobs.
package api
