// Command failover runs a real Carillon cluster under load, breaks it again and again, and checks
// afterwards what the cluster promised: nothing acknowledged is lost, every tick is decided once whoever
// leads, a leader that was replaced launches no more, and the logs of all nodes agree.
//
//	go run ./bench/failover --binary bin/carillon --topology embedded --rounds 10 --seed 1
//
// What is recorded and what is checked is in package history, which this program shares with bench/crash.
// Like that one it shares no code with the product. This program has the cluster and the faults.
//
// # Topologies
//
//	embedded  three processes whose embedded NATS servers form the cluster; the third is a witness
//	outside   three NATS servers in processes of their own, and two nodes that reach each of them through
//	          a proxy, which can hold what one side sends, or reset all connections
//
// # A round
//
// The cluster works under load for a while. Then a scenario strikes. The round waits until the cluster
// serves again, which is when another node leads if the fault is to make one, and a put is acknowledged;
// then it heals what was broken, and waits until each node is in step. All waits are bounded.
//
// # What is measured
//
// For each round: the longest time between two acknowledged puts (put gap), and, from the moment of the
// fault, the put that ended it (first put) and the first delivery of the new leader (first launch); how
// late the latest tick was of the jobs with an HTTP target that nobody touches (lateness); how many runs arrived
// again (duplicates), and how much came of a leader when another had begun (farewells). A delivery is known to be of the new leader by its
// fence, which is a position in the log, behind the commit with which the new reign begins.
package main
