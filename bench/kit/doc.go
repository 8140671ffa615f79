// Package kit starts and ends the processes of the programs that break and compare servers: bench/crash,
// bench/failover, bench/cron and bench/rivals.
//
// Invariant: it imports no package of the product, and the product does not import it, so that the checks of
// bench/crash and bench/failover share no code with what they check.
//
// process.go has one life of a process, from its start to its end, signal_unix.go and signal_other.go what differs
// between systems, and program.go what the main functions of the programs share. A program that is started must print
// a line of JSON with "ready": true on its standard output; the kit knows nothing else about it.
package kit
