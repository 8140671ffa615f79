// Package replication keeps the logs of the nodes of a cluster equal: it carries the leader's commits to the
// standbys through a JetStream stream, and it chooses the node that leads.
//
// The package is not a consensus protocol. The stream puts frames in an order, and this order decides: every
// node, the leader included, accepts the first frame that continues the chain of hashes, and no other. The
// lease names the node that may try to lead. Two nodes that both believe that they lead do no harm, because the
// stream accepts the frames of only one of them.
//
// Much of the code exists because of what NATS guarantees and of what tests have seen it violate. An expected
// sequence protects only a single publication in flight. NATS can lose messages that it has acknowledged, and
// then it assigns their sequences to other messages: so a frame is identified by its position in the log, never
// by its sequence. A read of a key can be stale: only a compare-and-set decides.
//
// # The path of a commit
//
//	leader    Node.Append (lead) --+--> Local.Append                             the leader's log
//	                               +--> writer.place (writer) --> jetStream      the stream
//
//	standby   consume --> cursor.step (cursor) --> tail.judge (tail) --> Node.accept (accept)
//	                                                                         |
//	                                        Local.Append, then Local.Apply <-+
//
// A frame is the unit of all of this (frame). When a reader cannot be sure of its place in the stream, it locates
// the place again from its own log (locate), and reads several messages at a time (window). Where NATS is not known to
// sync, the messages that were judged are compared with the stream before anything depends on them (imprint, trail), and the
// leader waits for the disk of a standby (copies).
//
// # The path of a leadership
//
//	standby   sawLease, heard --> challenger --> claim --> register.claim (bucket)
//	leader    open (lead) --> serve --> renew (leadership), handOver (handover) --> release (leadership)
//
// The two sides of the lease are in different files: tenure computes until when the holder may launch, challenger
// from when another node may claim. Promises connect the two: ask has the messages, promises the state of the node
// that promises. Each side compares only readings of its own clock.
//
// # Several shards
//
// A process has a Node for each shard, and one [Host] for all of them. host_beat, host_ask and host_twin are what the Host
// tells and hears of other processes; with one shard its messages are those of that Node alone. register has two forms:
// shardLease is one key, which each renewal writes; with several shards, memberLease (host_register) takes the key of a
// shard, hostLease renews the key of the node, and ledger combines the two into the lease that the challenger sees. divide
// and shards have the number of shards, which the streams carry.
//
// Each shard has copies on some of the nodes. place_value and place_book are the keys that say on which, host_place what this
// process is to hold, and host_nodes what it hears of all nodes. The process that leads shard 0 drives: drive writes the keys
// and spreads the leaderships, drive_plan shows the cluster to package placement, which decides, and drive_ask answers
// operators.
//
// # Nodes that come and go
//
// found decides whether a node may enter a cluster, or founds one. bootstrap and offer are the two ends of a
// checkpoint on its way to a node that the stream cannot serve (package transfer has its sessions and its pieces), and
// replace says what becomes of the data in its place. process ends one of two processes that run under one name. beat and known keep what a node knows about the
// others, and trim removes from the stream what none of them needs. move keeps the leaderships of the streams on NATS
// servers that outlive the leader's process.
//
// # Goroutines
//
// The loop of [Node.Run] alternates between follow and lead. It owns the challenger, and the writer until the node has
// begun its epoch. While the node leads, the engine's goroutine owns the writer, or with [Options.Local] the pump.
// The watch of the lease, the questions to the holder, the beats and the renewals have goroutines of their own, those of the
// Host among them, so
// that a slow request to JetStream delays none of the others; they reach the loop through channels, and what they
// share with it is atomic or has a mutex.
//
// # What it does not do
//
// The package writes no file except those of a checkpoint that is on its way: log, store and engine are behind
// [Local]. It elects no leader among NATS servers, it only asks one of them to step down. It keeps no list of members
// on which the nodes agree: each node remembers for itself which others it has heard.
package replication
