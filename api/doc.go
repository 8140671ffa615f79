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
//
// # Shards
//
// A cluster of several shards has several engines, each with its leader. A [Service] of one shard answers requests for
// its jobs alone. A [NewRouter] service is what callers use: its executor has no engine, and asks the shard that a request
// is about, or all of them and merges the replies. router.go has the way of each verb, router_find.go finds the shard of a
// request, router_bulk.go divides bulk registrations, router_list.go, router_lists.go and router_page.go merge lists, and
// the other router_*.go have one verb or two each.
//
// # Where what is
//
// executor.go has the path above, service.go and serve.go the endpoint on NATS, discovery.go its description as a
// NATS service, ways.go the entry for package web and for pages, local.go the entry for callers in this process.
// verbs_table.go lists the verbs; the other verbs_*.go have one function for each. reader.go, object.go and
// fields*.go decode requests, decode_*.go those with jobs; encode*.go and page*.go write replies; cursor.go continues
// lists. gate.go and room*.go hold the bounds, error.go the statuses, stats.go the counters. schema*.go and
// components.go describe the verbs by reflection over the types of package client; tests compare the description with
// what is decoded.
//
// # Concurrency
//
// Each request over NATS has a goroutine of its own, each over HTTP that of its connection. What they share is the
// executor, whose counters are atomic and whose rooms have a lock; nothing of a request is shared with another one.
// The package decides nothing about jobs: order and durability of changes are the engine's, and a reply to a change
// is encoded only after the engine has returned, which it does when the commit counts.
package api
