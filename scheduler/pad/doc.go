// Package pad holds committed launches until they are due, and then passes them to a sender. It is where punctuality is
// made: a tick, a goroutine that serves the pads of a process and has a thread while it sleeps, sends what is due; the feeders
// read ahead what it sends.
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
//
// # The way of a launch
//
//	Add (pad.go) ---> later: beyond the horizon; a feeder moves it on (feeder.go)
//	             `--> soon: by due time, tenants in turn (soon.go)
//	                    |   meanwhile a feeder reads its row (feeds.go), unless it was read
//	                    |   for another launch of the job (template.go)
//	                    v   due (tick.go)
//	                  seek: its row is not read yet (seek.go)
//	                    v
//	                  turn: its job limits its concurrent runs (turns.go, turn_wait.go)
//	                    v
//	                  lane: its target has no place for it (lane.go)
//	                    v
//	                  departures: in order, to Sender.Launch (depart.go)
//	                    v
//	                  flying; its outcome goes to Options.Report (pad.go), and may free the turn at once (endings.go)
//
// A launch that lacks nothing passes through all of this within one call, under one lock. Whatever a launch lacks, it
// waits for outside the path of the others: no goroutine ever waits on behalf of a single launch.
//
// # Concurrency
//
// Two locks guard the pad. Pad.mu guards all fields that change, except where a field says otherwise. Pad.sending is
// locked before mu, and is kept from the decision that launches leave until Sender.Launch has returned for each of
// them; that is what keeps the launches of a job in order when the tick and the feeders both send. Sender.Reserve and
// Options.Report are called with mu locked, so they must not call the pad. Sender.Release and Sender.Launch are called
// without mu, because Release may call room, which locks it.
//
// # What the pad does not do
//
// It makes no attempt a second time, has no timeouts, and does not know whether an outcome is final: the core decides
// all of that. It does not count places either: the sender does.
package pad
