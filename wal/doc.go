// Package wal is the write-ahead log: one entry for each commit, numbered 1, 2, 3 … by its LSN,
// durable when Append returns.
//
// The library github.com/tidwall/wal stores the bytes; its segment is a plain sequence of
// length-prefixed entries. That library has no checksum, reports a torn tail as a corrupt log, reads
// trailing zeros as entries, never syncs a directory, and accepts writes after one has failed. This
// package adds:
//
//   - a frame around each commit, with a checksum and a hash of the frame before it;
//   - a lock on the directory;
//   - an Open that verifies every frame, distinguishes a torn tail from damage, cuts off the
//     former and refuses the latter;
//   - a directory sync for every file that appears;
//   - no more writes after the first write or sync that failed;
//   - a sequential reader, truncation by whole segments, and logs that begin after any LSN.
//
// # The frame
//
// All integers are little-endian. docs/format/wal.md is the complete description.
//
//	0       4   5   6     8     12    20      28          44       52        60    64
//	+-------+---+---+-----+-----+-----+-------+-----------+--------+---------+-----+---------
//	| magic | v | t | flg | len | LSN | epoch | prev hash | log id | durable | CRC | payload
//	+-------+---+---+-----+-----+-----+-------+-----------+--------+---------+-----+---------
//	|<----------- what the commit is: hashed ------------>|<--- this log's only -->| hashed
//
// The hash of a frame covers the commit's identity (LSN, epoch, payload) and, through the previous hash,
// every commit before it. So a position (LSN, epoch, hash) means the same in the log of every node. The
// log id and the durable watermark belong to one log, so the hash excludes them; the checksum covers
// them.
//
// # Torn or damaged
//
// Append syncs each commit before it writes the next one, and each frame carries the highest LSN that
// was durable when the frame was built. So bytes at the end of the last segment that are not a whole
// frame have one of two causes: a commit that was interrupted before it was acknowledged, or a durable
// commit that was damaged. Only in the second case can an intact frame follow whose watermark is at or
// above that commit; such a frame is a witness. The log id, a random number that never leaves the log,
// ensures that a payload which imitates a frame is not taken for a witness.
//
// The frames alone cannot show one kind of loss: durable commits that are missing or damaged at the very
// end of the log, with no frame behind them. Two other sources show it. The file SEGMENTS records from
// time to time how far the log is durable, and Options.Applied says how far the store is. A log that
// ends before either position is damaged, whatever its tail looks like; Open reports it and changes
// nothing.
//
// # The path of a commit
//
// Append (append.go) asks the reserve of free space (space.go), lets the chain build the frame (chain.go,
// frame.go), and passes it to the library (disk.go). From time to time MarkDurable records the progress in
// SEGMENTS (list.go). TruncateFront (truncate.go) moves the beginning of the log, which BASE records
// (base.go).
//
// Open (open.go) runs the other way. It classifies the file names (layout.go), walks all frames (survey.go,
// scanner.go, and chain.go again), judges bytes that are no frame (tail.go), compares the end with SEGMENTS
// (missing.go) and with the store (fit.go), and only then repairs. A Reader (reader.go) reads what is durable
// while appends go on. SaveTail and CutTail (logtail.go, cut.go), Relist (relist.go), Verify and Dump
// (verify.go) and DumpFile (dumpfile.go) serve operators, and nodes whose log has left the history of their
// cluster.
//
// # Concurrency
//
// The package starts no goroutine: each operation runs on the goroutine of its caller. One that needs several
// of the locks of a Log takes them in the order trimming, writing, listing, state.mu. No lock that Last, Base
// or a Reader needs is kept during a system call, so a slow disk never delays those.
//
// # What the package does not do
//
// It does not collect commits into groups: each Append costs one sync, and the caller packs as many changes
// as it has into one payload. It does not interpret payloads, does not ship them to other nodes, and does not
// protect them against an attacker who can write to the directory, since the hashes have no key.
package wal
