// Command failover runs a real Carillon cluster under load, breaks it again and again, and checks afterwards what the
// cluster promised: nothing acknowledged is lost, every tick is decided once under any leader, a leader that was
// replaced launches no more, and the logs of all nodes agree.
//
//	go run ./bench/failover --binary bin/carillon --topology embedded --rounds 10 --seed 1
//
// What is recorded and what is checked is in package history, which this program shares with bench/crash.
// Like that one it shares no code with the product. This program has the cluster and the faults.
//
// # Topologies
//
//	embedded  three processes whose embedded NATS servers form the cluster; the third is a witness
//	guarded   the same as embedded, with a file of rights, and TLS on all listeners, of the peers too
//	outside   three NATS servers in processes of their own, and two nodes that are their clients
//
// # Network
//
// Each process runs on a host of its own, a network namespace, and this program carries the packets between
// them (package lan): so it can cut a link without a word, in one direction or in both, end its connections
// by resets, delay and lose packets. The observer, which holds the clients and the targets, is a host whose
// links are never broken. It subscribes at each NATS server, so that it receives what a leader launches that
// the others cannot reach.
//
// Namespaces need root on Linux and /dev/net/tun. Where they cannot be had, all processes share loopback, with
// a proxy before each NATS server of the topology outside, which can hold what one side sends, or reset all
// connections. Scenarios that need more are left out then, by name.
//
// # Shards
//
// With --shards the cluster has several shards, and the scenarios that --help marks with an S are for it: all but those of
// rights and of mishaps, and those that break a stream or the bucket by name. With --nodes 3 three nodes can lead, two of
// which hold each shard but the first, and the scenarios marked with an N are for it. The
// leader is then the node that leads the most shards, or of equals each in its turn. A round waits at its end until the
// shards are spread over the nodes again. In each shard a client registers jobs at a steady pace without waiting for
// answers, because clients that wait would be held up by a shard without a leader.
//
// # A round
//
// The cluster works under load for a while. Then a scenario strikes. The round waits until the cluster
// serves again, which is when another node leads if the fault is to make one, and a put is acknowledged;
// when its patience is over, it goes on. Then it heals what was broken, and waits until each node is in step
// under one leader. All waits are bounded.
//
// # What is measured
//
// For each round, from the fault until all is whole:
//
//	first launch   first delivery of the new leader, counted from the fault
//	first put      first acknowledgement of a put that was sent after the fault, under the new leader
//	put gap        longest time between two acknowledged puts
//	led gap        the same within one shard, of those that the node led which was hit, until it comes back
//	other gap      the same of the other shards
//	return gap     the same of any shard from then on, until the shards are spread again
//	lateness       of the latest tick of the jobs with an HTTP target that no request touches
//	duplicates     runs that arrived again
//	farewells      launches by a leader when the first of another had arrived
//	last farewell  how long after that first one the last of them arrived
//	epochs         leaderships that began; with several shards until the fault is mended, since they spread afterwards
//	missing        ticks that never arrived, of the job that lost most: each overlap policy has one, and each of several shards
//
// A delivery is known to be of the new leader by its fence, which is a position in the log, behind the commit
// with which the new reign begins.
//
// # What is judged
//
// A run fails if a check of package history finds a violation, or a figure exceeds its bound. The bounds are
// in one table, and --bound replaces them. Where the table says why the product misses a bound today, the
// report says "KNOWN, NOT JUDGED"; with --judge-all it counts. Violations are always judged.
//
// # The files of the program
//
// options.go reads the command line and scenario.go, scenario_lan.go, scenario_stream.go, scenario_mishap.go and scenario_access.go have the
// plan's scenarios; those of the topology guarded need access.go and knock.go besides.
// office.go knows which node leads which shard. rig.go builds everything: the network (network.go, proxy.go, package lan), the processes (cluster.go, node.go,
// servers.go with nats_server.go, disk.go) and the load. round.go runs one round after another, calm.go waits until
// the cluster is whole, connected.go chooses the NATS server that a node uses, stream.go asks and breaks JetStream,
// log.go reads the logs on the way and final.go all of them at the end. measure.go makes figures of the history,
// bounds.go judges them by bounds_table.go, and report.go prints both.
//
// One goroutine runs the rounds and breaks things; the clients and the sink have their own and meet it only in the
// recorder.
package main
