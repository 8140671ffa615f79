// Command bench measures the real Carillon server from outside.
//
//	go run ./bench lateness|put|bulk|recover|all --binary bin/carillon
//
// Each workload starts the server in a process of its own, on a fresh data directory, and what it
// fires is received by yet another process. All talk over loopback and share the machine: the
// figures hold what the clients cost too.
//
//	lateness   one-shots and intervals against a receiver: arrival minus scheduled time
//	put        one registration a request, each durable: one client, then many
//	bulk       many registrations a request, sustained; then memory and disk
//	recover    SIGKILL with all of them loaded; time until the server is ready again
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
package main
