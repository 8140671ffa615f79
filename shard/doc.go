// Package shard runs one engine with its data: the log and the store of a data directory, the scheduler over them, and
// the service that answers requests about its jobs. A process has one shard or several; what it has once, such as its connections to NATS, its senders and its HTTP server, belongs to package server, which gives each
// shard its part of them.
//
// A shard runs alone or as a member of a cluster:
//
//	alone.go    the engine leads from the start, and its log is the directory's
//	divide.go   how many shards the cluster has, before any is opened
//	cluster.go  the shard finds its cluster, and replication says when the engine leads or follows
//	member*.go  what replication asks of the shard: member.go the log and the store, member_serve.go leading and
//	            resting, member_data.go what happens to replaced data
//	service.go  the service of the present engine, one at a time
//
// The embedded scheduler opens its engine through this package as well: alone, without a connection to NATS.
//
// The goroutines of a shard are the engine's, one that makes checkpoints and, in a cluster, the node's. They end with
// [Shard.Close]; a failure of any of them is passed to [Options.OnFatal] once.
package shard
