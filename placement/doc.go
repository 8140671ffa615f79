// Package placement decides which nodes of a cluster hold copies of which shards, and which of them lead. It is arithmetic
// alone: it knows no clock, no network and no state, so that any node computes the same from the same facts.
//
//	placement.go  what the planner is told and what it answers
//	next.go       the moves of copies that may begin
//	spread.go     the hand-overs by which each node leads its share
//	judge.go      what an operator may ask for
//	score.go      weighted rendezvous: which shard suits which node
//
// Loads are compared relative to the weights of nodes, and a copy moves only if that makes the greater of two loads smaller. So
// every sequence of moves ends, and none undoes another.
package placement
