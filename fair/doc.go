// Package fair provides queues that several parties share in turns (round robin). A party with a hundred
// thousand items gets as much of each round as a party with one item. So many items at once delay their
// own party, and other parties hardly at all.
//
// The package imports nothing: the scheduler uses it with tenants as parties, the dispatcher with
// tenants and with lanes. Its types are not safe for concurrent use.
package fair
