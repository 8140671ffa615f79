// Package fair provides queues that several parties share in turns (round robin). A party with a hundred
// thousand items gets as much of each round as a party with one item. So many items at once delay their
// own party, and other parties hardly at all.
//
// The package imports nothing: the scheduler uses it with tenants as parties, the dispatcher with
// tenants and with lanes. Its types are not safe for concurrent use.
//
// Queue (queue.go) is deficit round robin (M. Shreedhar and G. Varghese, SIGCOMM 1995) for items that all
// cost the same, so that no turn leaves a deficit. FIFO (fifo.go) is the line of one party, and the order of
// the parties. Parties have no weights: each gets the same share. The package bounds no queue; its callers
// bound what they push.
package fair
