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
//   - outcomes of attempts (outcome.go): a run succeeds, is retried, waits for a report, or is dead;
//   - proposals of callers (proposal.go lists them; put.go, change.go, manual.go, report.go and others handle them);
//   - ticks that are due (decide.go), of tenants in turn (backlog.go) and within their shares (share.go); missed ones
//     (missed.go) become a debt (debt.go), which is paid at a pace (pace.go);
//   - completed jobs whose retention is over (reap.go) and old history (prune.go).
//
// Its work is bounded in bytes (commits.go), in ticks (step.go) and in evaluations of schedules (effort.go); what is
// left over waits for the next step, and [Output.WakeAt] says when that is.
//
// A core is not safe for concurrent use. Everything that it returns belongs to it until the next step.
package core
