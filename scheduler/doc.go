// Package scheduler is the engine: the runner around a pure core, which does its I/O. The core is package
// scheduler/core, and the launch pad is package scheduler/pad.
//
// # The path of a job
//
//	caller --> Engine.Put --> proposal --+
//	                                     v
//	           outcomes ------------> Core.Step --> Output
//	           due ticks (wheel) -----^   |            Batch     1. appended to the log, durable; applied to the store
//	                                     |            Replies   2. only after 1
//	                                     |            Launches  2. only after 1, onto the pad
//	                                     v
//	           feeder: reads the job from the store, ahead of its time
//	                                     v
//	           tick:   at the due millisecond, hands it to the Sender
//	                                     |  no place at its target: it waits in a lane of the pad
//	                                     |  until the Sender calls; then its row is read again
//	                                     v
//	           outcome, back into the next step
//
// [core.Core] is a value machine. It holds a row of 48 bytes for every job, a wheel, and the runs without an outcome.
// Step handles proposals and outcomes, and decides the ticks that come due within the lead. The core does no I/O,
// starts no goroutine, and reads no clock and no random source.
//
// [Engine] is the runner: a loop that gathers, steps, commits and releases, one commit at a time. Whatever arrives
// during a commit joins the next one. So a commit is as large as the load demands, and a single caller waits for one
// fsync.
//
// # Ahead of time
//
// A tick is decided, committed and prepared up to Settings.Lead before it is due, so that the launch itself waits for
// no disk. A change of a job first withdraws the job's waiting launches from the pad; the step that makes the change
// records them as skipped or puts them back. What can be known only at the due time is decided there: a run that
// finds the previous one still in progress ends as skipped, by a later commit.
//
// # Tenants take turns
//
// Ticks are decided in the order of their times as long as a step can decide all that are due. If more are due, they
// leave the wheel for a backlog with a line for each tenant, and the lines are served in turn. The same holds for
// reading the rows of jobs, and for the pad when several tenants have launches due. A herd of one tenant thus delays
// that tenant, and any other by about a step. Within a tenant the order is that of due times, and of arrival among
// equals.
//
// # Places
//
// A target accepts a limited number of attempts at a time; the Sender counts them. A launch that is due and has its
// turn asks for a place. Without one it waits in a lane of the pad, ordered by due time, and its delivery is dropped.
// When a place is free the Sender calls, and a feeder reads the delivery of the first launch of the lane, which now
// owns the place. So waiting costs no attempt, no timeout and little memory, and a waiting launch can be withdrawn
// like any other. The bytes of the deliveries that wait for their time are bounded; a delivery beyond the bound is
// read when its launch is to leave.
//
// The launches of one job leave in the order in which they were admitted: one feeder handles all of them, and the
// pad's sending lock is held from the admission to Sender.Launch.
//
// # Missed ticks
//
// A tick is missed if no engine led when it came due, nor within Settings.Grace after that. Such jobs wait in a
// backlog of their own until all present ticks are decided. The ticks that the policy does not fire are recorded as a
// skipped range; those that it fires become a debt, which is paid at the engine's pace. The job is armed for its next
// tick meanwhile.
//
// # Bounds
//
// A step is bounded in bytes, in ticks and in evaluations of schedules; the rest is left to the next step. The number
// of live runs is bounded too, and tenants share it: see core/share.go.
//
// # Turns and reports
//
// For jobs that limit their concurrent runs, the pad knows which runs are in progress and which wait. A run has its
// turn from its launch to the commit that ends it, including further attempts and the wait for a worker's report. The
// deadline of that report is a timer on the wheel.
//
// # Beside the loop
//
// Work that needs the store or the network is requested by a step and done by goroutines beside the loop, which
// propose the result like any caller: deleting jobs whose retention is over, pausing jobs that fail, moving jobs to a
// changed calendar, publishing notices.
//
// # After a crash
//
// The store has applied the whole log before Open. Open loads rows, names and live runs, arms the wheel, and commits
// the beginning of a new epoch. The LSN of that commit is the lowest fence from then on. Runs without an outcome are
// launched again under their own ids, so an attempt that was with its target at the crash may arrive twice. Runs that
// wait for a report are not launched again: their workers continue, with the fences that they have. Ticks that passed
// meanwhile are decided by the same code as all others, only later.
//
// # Standing by
//
// Another engine can follow the commits of the leader: Follow loads it, Apply gives it a commit, and Lead makes it
// the leader. It applies rows and decides nothing. After each commit it knows what it would know if it had just
// loaded its store, so a promotion takes one commit and a pass over the live runs. Open is Follow and Lead, so that a
// start and a takeover are one path. Only the log knows whether a leader still leads: an append that fails ends
// Serve. Between appends, Options.Trust bounds how long launches may leave.
//
// # Concurrency
//
// The loop owns the core; before Serve, the caller of Apply and Lead owns it. The pad has a lock, and is shared by
// the loop, the feeders, the tick and the goroutines of the senders. The store is read from any goroutine, and
// written by the loop alone.
//
// # Where to find what
//
//	engine.go, loop.go, log.go        options, the loop, one commit; what is logged
//	propose*.go, withdraw.go          a change of a caller, from the request to the answer
//	read*.go, views.go                what callers read; it comes from the store and never from the core
//	standby.go, load_*.go             loading, following a leader, beginning to lead
//	drain.go                          stopping to launch, and resting between two commits
//	housekeeping.go, pauses.go, reaper.go, announce.go    the work beside the loop
//	outcome_queue.go                  the way of outcomes back to the loop
//	status.go, lateness.go            what the engine measures of itself
//	actor.go, origin.go               what a request carries in its context
//	ports.go                          what the engine needs: log, store, sender, announcer, clock
//	manual_driver.go                  the same engine without goroutines, for simulations
//
// # What it does not do
//
// It opens no file and no connection: log, store and sender are given to it. It does not elect a leader: its owner
// calls Lead and Serve, and ends Serve. It neither restarts after an error nor works around one: a failed append or a
// failed store ends Serve, and the only way back is to load again.
//
// # Errors
//
// A request that is refused gets an error of package apierr, with a code; the change has then no effect. If the
// outcome is unknown, because the engine stopped or the caller's context ended, the error says so. An error of the log
// or of the store within a commit ends Serve. An error of a read concerns only the request that read. An error of the
// work beside the loop is logged, and does not stop the engine.
//
// # Time
//
// Decisions are made by the wall clock, because schedules are: the loop reads Options.Clock for each step and passes
// the instant to the core. How long the loop waits for more work is measured by the monotonic clock. A clock that is
// set back fires nothing twice, because cursors do not go back; a clock that is set forward is noticed within half a
// second.
package scheduler
