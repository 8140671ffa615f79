// Package snapshot is the store: an ordered table of rows in Pebble. Its state is always the state of
// the log after some whole commit.
//
// Pebble's own log is off. The rows of a commit go into one Pebble batch together with the commit's
// position. So what a crash leaves is the effect of a prefix of the log, and the position says which
// prefix. That depends on three facts about Pebble, which TestCrashLeavesAPrefix checks:
//
//   - a batch goes into one memtable as a whole, or becomes a memtable of its own after the current one;
//   - memtables are flushed in the order of their sequence numbers, never past an unfinished batch;
//   - a flush is installed by one synced edit of the manifest, after its tables are synced.
//
// What each call does to a commit:
//
//	Apply       rows and position into the memtable           visible; nothing is durable
//	Checkpoint  flush, and wait until the flush is installed  durable up to the position returned
//	Export      the same, and a copy of the durable files     durable; the copy is a store of its own
//	Close       flush, then release the directory             durable, and nothing to replay
//
// Recovery is: Open, compare Applied with the log, Apply the remaining commits of the log. The cost of a
// checkpoint depends on what changed since the last one, not on the number of jobs.
//
// # Failures
//
// By default Pebble retries a failed flush for ever, and ends the process when it cannot write its
// manifest. Here the first such failure ends the store instead: the store no longer changes its
// directory, Apply and Checkpoint return ErrFailed, and Options.OnFatal is called once so that the owner
// can stop the process. No commit is lost: the log has all of them, and every start replays what the
// store lacks.
package snapshot
