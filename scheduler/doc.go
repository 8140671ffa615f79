// Package scheduler is the engine: a pure core and one thin runner around it.
//
// # The way of a job
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
//	                                     |  no place at its target: it waits in a lane of the pad,
//	                                     |  until the Sender calls; its row is read again
//	                                     v
//	           outcome, back into the next step
//
// [Core] is a value machine. It has every job as a row of 48 bytes, a wheel, and the runs that have no
// outcome; Step settles proposals and outcomes and decides the ticks that come due within the lead. It
// opens nothing, starts no goroutine, and reads no clock and no random source.
//
// [Engine] is the runner: a loop that gathers, steps, commits and releases, one commit at a time;
// whatever arrives meanwhile joins the next. So a commit is as large as the load demands, and a lone
// caller waits for one fsync.
//
// # Ahead of time
//
// A tick is decided, committed and made ready up to Settings.Lead before it is due, so the launch itself
// waits for no disk. Whoever changes a job takes its waiting launches off the pad first; the step that
// settles the change records them as skipped, or puts them back. What can be known only at the due
// time is decided there: a run that finds the previous one still going ends as skipped, by a later
// commit.
//
// # Tenants take turns
//
// Ticks are decided in the order of their times as long as a step can decide all that are due. When more
// are, the rest comes off the wheel into a backlog with a line for each tenant, and the lines take
// turns; so do the reading of jobs and, when several tenants have launches due, the pad. A herd of one
// tenant thus delays that tenant, and another by about a step. The order within a tenant is that of due
// times, and of arrival among equals.
//
// # Places
//
// A target has so many attempts at a time, which the Sender counts. A launch that is due and has its turn asks for
// a place; without one it waits in a lane of the pad, by due time, without its delivery. The Sender calls when
// there is a place, and a feeder makes the first of the lane ready, with the place in its hand. So a wait costs
// no attempt, no timeout and little memory, and what waits is withdrawn like any launch. Bytes of deliveries that
// wait for their time are bounded; what finds no room is read when it is to leave.
//
// The launches of one job leave in the order in which they were admitted: one feeder has all of them, and sending
// is locked from an admission to the Launch.
//
// # What was missed
//
// A tick was missed if no engine led when it came due, nor within Settings.Grace after that. Such jobs wait in
// a backlog of their own until all that is due now is decided. What the policy does not fire is written down as a skipped
// range; what it fires becomes a debt, which is paid at the pace of the engine. The job is armed for
// its next tick meanwhile.
//
// # Bounds
//
// A step is bounded in bytes, in ticks and in the evaluations of schedules; what is left over belongs to the
// next. Live runs have a bound, which tenants share: see share.go.
//
// # Turns and reports
//
// Where only so many runs of a job may go at a time, the pad knows which are going, and which wait. A
// turn is held from the launch to the commit that ends the run: over further attempts, and over the wait
// for a worker's report, whose deadline is a timer on the wheel.
//
// # Beside the loop
//
// What needs the store, or the world outside, is asked for by a step and done by goroutines beside the
// loop, which propose the result like any caller: deleting jobs whose time is over, pausing those that
// fail, letting jobs follow a calendar, publishing notices.
//
// # After a crash
//
// The store is level with the log before Open. It loads rows, names and live runs, arms the wheel, and
// commits the beginning of a new epoch; its LSN is the least fence from then on. Runs without an
// outcome are launched again under their own ids: what was with a target at the crash may arrive twice.
// Those that wait for a report are not: their workers go on, with the fences that they have.
// Ticks that passed meanwhile are decided by the path that decides all ticks, and are merely late.
//
// # Standing by
//
// Another engine may follow the commits of the one that leads: Follow loads it, Apply gives it a commit, and
// Lead makes a leader of it. It takes in rows and decides nothing, so after each commit it knows what it
// would know had it loaded its store anew; to be promoted it needs one commit and a look at the live
// runs. Open is Follow and Lead, so a start and a takeover are one path. Whether a leader still is one only
// the log knows: an append that fails ends Serve. In between, nothing leaves without Options.Trust.
//
// # Who may touch what
//
// The loop owns the core; before it, whoever calls Apply and Lead does. The pad has a lock and is shared by the loop, the feeders, the tick and the
// senders' goroutines. The store is read from anywhere and written by the loop alone.
package scheduler
