// Package wheel holds timers by the tens of millions in a hierarchical timing wheel. A timer is a
// caller's id and a tick. The package reads no clock, starts no goroutine and imports no other package
// of this project.
//
// # Workload
//
// Each job of a scheduler is one timer, minutes to months ahead, and one process holds ten million of
// them. Nearly every timer fires and is armed again at once. This differs from network timeouts, nearly
// all of which are cancelled. A tick is a millisecond, and a tick with work must not be delayed by work
// for timers that are due tomorrow.
//
// # Trade
//
// A wheel arms a timer in constant time because it keeps timers that are far ahead in coarse slots; in
// return it moves each timer down a few levels before it fires. The textbook wheel moves a whole coarse
// slot in the tick in which that slot begins: with ten million timers over a day, single ticks take 43
// to 80 ms. Here every level has two rings of slots, one for its current block and one for the next. A
// coarse slot is exactly one block of the level below, so its timers have a place to go as soon as the
// slot before it begins. Each tick moves a share of them, and the slot is empty when its time comes.
// With n timers in the slot and left ticks to go, ceil(n/left) timers move in a tick; besides firing
// what is due, a tick does this much work for each level and no more. The cost is a second ring for each
// level, 24 KiB in all, and timers that move down up to one slot earlier than in the textbook.
//
// Wheels for network timeouts may fire a far timer with the precision of its coarse slot. This one does
// not: each timer fires exactly at its tick.
//
// The hierarchy is that of G. Varghese and A. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987. The
// second ring and the even pace are additions to it. A heap would need no pace, but it touches up to a cache
// line for each of its twenty-odd levels at every arm and cancel, and orders timers that are months away.
//
// # Levels
//
//	level  a slot spans  a ring of 256 spans
//	0      1 ms          256 ms
//	1      256 ms        65.5 s
//	2      65.5 s        4.66 h
//	3      4.66 h        49.7 days
//	4      49.7 days     34.8 years
//	5      34.8 years    8,900 years
//	6      8,900 years   2.3 million years
//	7      2.3 M years   every Tick there is
//
// A timer is on the lowest level whose current or next ring has its tick. The levels cover every Tick,
// so there is no overflow list for timers too far ahead.
//
// # Memory
//
// A timer takes 24 bytes and a two-byte slot index. Timers are in slabs that contain no pointers and are
// never moved, so the garbage collector has nothing to scan and growth copies nothing. References that
// are free for reuse are on a separate stack, four bytes each. Bitmaps mark the slots that hold timers,
// so that a span without timers costs nothing, whether it is a second or a year.
//
// # Files
//
// Arm, Cancel and Rearm (wheel.go) take an entry from the pool (pool.go, free.go) and link it into a slot
// (slot.go), which the arithmetic of the levels (shape.go) selects. Advance and Next (advance.go) find the
// slots that have work by bitmaps (occupancy.go). The build tag invariants adds checks (invariants_on.go).
//
// # What the package does not do
//
// It has no lock, since one goroutine owns a wheel. It goes back only by Rewind (rewind.go), for a clock that was
// set back. It keeps no timer on disk; the owner arms all timers again at a start.
//
// # Evidence
//
// Ten million timers over a day, each armed again when it fires (AMD EPYC, two cores shared with other
// work, Go 1.26): arm 18 to 32 ns in most runs and 61 ns in the worst, cancel 92 to 128 ns, 26.0 bytes a
// timer. Over two million ticks, across a slot border of every level in use, the worst tick moved 3
// timers; a tick took 0.2 µs on average and 0.7 to 1.6 µs at p99.9. At p99.99 it took 1.0 µs while the
// cores were free. While they were busy it took up to 30 µs, about the same as an empty loop. The
// benchmarks print these figures; TestWorstTick proves the bound by counting moves.
package wheel
