// Package bench measures the real Carillon server from outside.
//
//	carillon bench jitter|herd|saturate|scale|put|load|recover|cluster|all
//
// Each workload starts the server in a process of its own, on a fresh data directory, and what it
// fires is received by yet another process. All talk over loopback and share the machine: the
// figures hold what the clients cost too.
//
//	jitter     one-shots and intervals against a receiver: arrival minus scheduled time
//	herd       many jobs due in the same millisecond: time to the last, and what others feel
//	saturate   jitter at rising rates, until a hundredth of the runs is late by more than a bound
//	scale      jitter with 10,000 jobs armed, then ten times as many, and so on
//	put        one registration a request, each durable: one client, then many
//	load       many registrations a request, sustained; then memory and disk
//	recover    SIGKILL with all of them loaded; time until the server is ready again
//	cluster    what replication costs: registration and lateness beside a server alone, the standby's pace
//
// # How figures are made
//
// Percentiles are exact: all samples are kept, sorted, and read by nearest rank. Lateness is open
// loop: it counts from the time a run was scheduled for, whatever else was late before it. A figure
// for a server that lost something would mean nothing, so each workload checks the result as well, and
// the exit status is 1 if anything is early, lost or doubled.
//
// The cost of an fsync is measured first, in the same directory, because every durable figure
// depends on it.
package bench
