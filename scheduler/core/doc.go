// Package core decides: which ticks fire, which runs are retried, skipped or dead, and what each change of a job means
// for them. It is the pure part of the engine in package scheduler, which does everything around it.
//
// [Core] is a value machine. It holds a row of 48 bytes for every job, a wheel, and the runs without an outcome.
// [Core.Step] takes proposals and outcomes, decides the ticks that come due within the lead, and returns an [Output]:
// the rows to commit, the launches to make, and the answers. The core does no I/O, starts no goroutine, and reads no
// clock and no random source; TestCoreIsPure checks that. Equal inputs give equal outputs, which makes a takeover exact
// and a simulation repeatable.
//
// # The life of a core
//
//	New -> Load -+-> Follow, KeepTime, ... -+-> NextEpoch -> Lead -> Step, Step, ...
//	             +--------------------------+
//
// Load fills it from the rows of a store. Until it leads it may follow another leader: Follow applies the rows of that
// leader's commits, and KeepTime lets time pass. NextEpoch prepares the commit that begins a leadership, and Lead makes
// the core the leader when that commit is durable. A core that leads cannot follow again.
//
// # What a step does, in this order
//
//   - the index of lists, if a store of an earlier release has none (list_index.go);
//   - outcomes of attempts (outcome.go): a run succeeds, is retried, waits for a report, or is dead;
//   - proposals of callers (proposal.go lists them; put.go, change.go, manual.go, report.go and others handle them); a
//     new job gets its id in numbering.go;
//   - ticks that are due (decide.go), of tenants in turn (backlog.go) and within their shares (share.go); missed ones
//     (missed.go) become a debt (debt.go), which is paid at a pace (pace.go);
//   - completed jobs whose retention is over (reap.go) and old history (prune.go).
//
// If the clock was set back, the wheel goes back before all of this (rewind.go).
//
// Its work is bounded in bytes (commits.go), in ticks (step.go) and in evaluations of schedules (effort.go); what is
// left over waits for the next step, and [Output.WakeAt] says when that is.
//
// A core is not safe for concurrent use. Everything that it returns belongs to it until the next step.
//
// # What it does not do
//
// It does not know names or definitions, only their hashes and profiles: what needs a row of the store is prepared by
// the proposer, and the core checks that the row has not changed since ([ErrStale]). It does not wait, retry or time
// out: it returns when it wants to be called again. It does not know whether its commits are durable: that is the
// caller's promise, written on [Output].
//
// # What keeps it deterministic
//
// Maps are never iterated into the output: where their order could show, the keys are sorted first. Jitter and backoff
// are computed from ids. Floating point numbers serve the pace alone, which decides when a missed tick is fired.
//
// # Where the algorithms come from
//
// The wheel is package wheel, the queues in which tenants take turns are package fair. The shares of the live runs
// (share.go) are the dynamic thresholds of Choudhury and Hahne (IEEE/ACM Transactions on Networking 6, 1998), where a
// queue of a shared buffer may grow to a multiple of the space that is free. The index of names (names.go) deletes by
// Algorithm R of Knuth (The Art of Computer Programming 3, section 6.4). The pace (pace.go) is a token bucket under an
// exponential moving average.
package core
