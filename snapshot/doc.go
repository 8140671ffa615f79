// Package snapshot is the store: an ordered table of rows in Pebble whose state is always that of the
// log after some whole commit.
//
// Pebble's own log is off. Every commit's rows go into one Pebble batch together with the commit's
// position, so whatever a crash leaves is a prefix of the log, and says which. That rests on three
// facts about Pebble, which TestCrashLeavesAPrefix checks instead of trusting them:
//
//   - a batch goes whole into one memtable, or becomes one of its own behind the current one;
//   - memtables are flushed in the order of their sequence numbers, never past an unfinished batch;
//   - a flush is installed by one synced edit of the manifest, after its tables are synced.
//
// What each call makes of a commit:
//
//	Apply       rows and position into the memtable           visible; nothing is durable
//	Checkpoint  flush, and wait until the flush is installed  durable up to the position returned
//	Export      the same, and a copy of the durable files   durable; the copy is a store of its own
//	Close       flush, then give the directory up             durable, and nothing to replay
//
// Recovery is: Open, compare Applied with the log, Apply the rest of the log. A checkpoint costs what
// changed since the last one, however many jobs there are.
//
// # Failures
//
// Left alone, Pebble retries a failed flush for ever, and ends the process when it cannot write its
// manifest. Here the first such failure ends the store instead: nothing is written to its directory
// any more, Apply and Checkpoint return ErrFailed, and the owner is told once, to stop the process. No
// commit is lost by that: the log has them all, and a store is brought level with it at every start.
package snapshot
