// Package kit starts and ends the processes of the programs that break and compare servers: bench/crash,
// bench/failover and bench/rivals.
//
// Invariant: it imports no package of the product, and the product does not import it, so that the checks of
// bench/crash and bench/failover share no code with what they check.
package kit
