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
//
// # The files
//
// Open (store.go, options.go) claims the directory (format.go), examines it read-only (examine.go) and then
// lets Pebble open it with our settings (tuning.go) and our schedule of compactions (compactions.go), on a file
// system that watches every change (guard.go, fault.go). Apply (apply.go) writes rows and position (head.go), Get
// and Scan (read.go) read them; Cuts (cuts.go) says where to divide a scan. Checkpoint (checkpoint.go) flushes. Export (export.go) copies, through a file
// system of its own (exportfs.go). Inspect (inspect.go) reads the position of a store that is not open. The gate
// (gate.go) keeps Close apart from calls that are still inside.
//
// # Concurrency
//
// One goroutine applies; readers, a checkpoint and an export run beside it. A call that may block inside
// Pebble runs on a goroutine of its own (fault.run), so that the caller returns when the store fails, even if
// Pebble never does. Reads run on the caller's goroutine: they wait for no flush.
//
// # What the package does not do
//
// It does not interpret keys and values, except that keys beginning with a zero byte are its own. It keeps no
// versions of rows and has no transactions: the only unit of change is a commit of the log.
package snapshot
