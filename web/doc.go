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
//
// # Where what is
//
// connections.go and seats.go bound connections and share them among addresses, unread.go ends those of refused bodies, host.go and origin.go check the host and the
// origin, who.go, certificate.go and session.go recognize the caller, router.go and routes.go find
// the route, query.go, request.go and members.go make the request of the verb, serve.go has it carried out, reply.go
// and sends.go write the reply. web.go has the server, its health and the writing of JSON; front.go answers before
// the engine is there. openapi*.go describe the routes, from the same table.
//
// # Concurrency
//
// Each connection has a goroutine of net/http. The gateway has no state of requests except counters and the list of
// replies that are being written; the executor belongs to the node and may change while the server runs, so each
// request asks for it anew.
package web
