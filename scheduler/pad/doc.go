// Package pad holds committed launches until they are due, and then passes them to a sender. It is where punctuality is
// made: the tick, one thread of the operating system, sends what is due; the feeders read ahead what it sends.
//
// A launch comes onto the pad by [Pad.Add], when the commit that decided it is durable. It leaves at its due time or
// later, never earlier, if
//
//   - launches may leave at all: the pad is not held, and its caller is trusted;
//   - its job has a free turn, where the job limits its concurrent runs;
//   - its row was read, which names its target and its lane;
//   - its target has a place for it.
//
// The pad knows runs, tenants and jobs by number only, and decides nothing about them. It writes nothing: a crash
// loses the pad, and the next leader fills it from the rows.
package pad
