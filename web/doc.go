// Package web is the HTTP gateway: the verbs of package api below /api/v1, the description of them as OpenAPI, health, and
// the pages of a dashboard.
//
//	listener --> host, origin --> router --> query, headers, body --> executor of the verb --> reply
//
// The gateway converts method, path, query, headers and body into the request of a verb, and an [api.Executor] carries it
// out behind the same gates as requests over NATS. It has no rules of its own about jobs. What it bounds itself is what
// only HTTP has: connections, the time that a caller takes to send a request or to read a reply, and the bodies that are
// read at a time.
//
// [Front] answers from the start of a process; [New] is the server behind it, once the engine is there.
package web
