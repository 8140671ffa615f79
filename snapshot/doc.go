// Package snapshot is the store: an ordered table of rows in Pebble whose state is always that of the
// log after some whole commit.
//
// Pebble's own log is off. Every commit's rows go into one Pebble batch together with the commit's
// position, so whatever a crash leaves is a prefix of the log, and says which: memtables are flushed in
// the order of their sequence numbers, a batch is never cut, and a flush is installed by one synced
// edit of the manifest. Recovery replays the rest.
//
//	Apply       rows and position into the memtable          nothing durable
//	Checkpoint  flush; the position of the finished flush    durable up to there
//
// A checkpoint costs what changed since the last one, however many jobs there are.
package snapshot
