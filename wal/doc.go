// Package wal is the write-ahead log: one entry for each commit, numbered 1, 2, 3 … by its LSN,
// durable when Append returns.
//
// The bytes are kept by github.com/tidwall/wal, whose segment is a plain sequence of
// length-prefixed entries. That library has no checksum, takes a torn tail for a corrupt log and
// trailing zeros for entries, never syncs a directory, and accepts writes after a failed one. This
// package adds what is missing:
//
//   - a frame around each commit, with a checksum and a hash of the frame before it;
//   - a lock on the directory;
//   - an Open that verifies every frame, tells a torn tail from damage, cuts the one off and
//     refuses the other;
//   - a directory sync for every file that appears;
//   - an end to all writing after the first failed write or sync;
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
// The hash of a frame covers what the commit is, and through the previous hash everything before
// it, so that a position (LSN, epoch, hash) means the same in the log of every node. The log id and
// the durable watermark belong to one log and are left out of the hash; the checksum covers them
// too.
//
// # Torn or damaged
//
// Append syncs each commit before the next one is written, and each frame carries the highest LSN
// that was durable when it was built. So bytes at the end of the last segment that are no whole
// frame are either the rest of a commit that nobody was told about, or a durable commit that was
// damaged; and only in the second case can an intact frame follow whose watermark is at or above
// it. The log id, a random number that never leaves the log, keeps a payload that imitates a frame
// from being taken for such a witness.
//
// One loss the log cannot see by itself: durable commits missing, or damaged, at its very end. SEGMENTS
// notes now and then how far the log was durable, and Options.Applied says how far the store is: a log
// that ends before either is damaged, whatever its tail looks like, and nothing of it is changed.
package wal
