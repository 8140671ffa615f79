// Package worker runs the commands of jobs on one machine: it is `carillon worker`, which takes the place of cron's
// daemon for the jobs of `carillon import --crontab`.
//
// A job asks by a request over NATS, and its run is over when the worker reports. The life of a run here:
//
//	delivery ── not allowed, or malformed ──> refused for good
//	    │ ────── full, draining, or the server does not confirm ──> refused, may be tried again
//	    │ confirmed by runs.extend, answered
//	 waiting ── heartbeats ──> running ── the command ends ──> reported
//	    │                         │
//	    └──── turn lost (cancelled, timed out), or the worker ends ──> ended: SIGTERM, SIGKILL
//
// Four rules keep a command from running twice:
//
//  1. A command starts only after the server has confirmed the turn: runs.extend with the run's fence has succeeded. A
//     delivery that was delayed or forged is refused by the server's own state.
//  2. A delivery of a run that is here already starts nothing. If it has a higher fence, the run goes on under that.
//  3. A command holds a lock in the state directory, by a descriptor that its processes inherit. So the lock outlives
//     a worker that is killed, and the next run fails by name instead of starting a second copy.
//  4. A turn that is lost ends the command, with its process group. A server that does not answer takes no turn: the
//     command goes on, because half a backup is worse than one whose report comes late, and rule 3 holds without
//     a server.
//
// What may run is decided by this machine alone: a message selects a command of the allow file (Rules), and never brings
// one. User, directory, environment and shell come from that file and the crontabs that it names.
//
// worker.go admits deliveries, request.go reads them and reply.go answers. turn.go is a run while it is here, perform.go runs
// its command, report.go tells its end. rules.go and rules_read.go are the allow file, yaml.go its syntax, trusted.go says
// who may have written it, keeper.go reads it again when it changes. command.go and account.go start a command as cron does,
// process.go ends it, lock.go has the locks and holder.go who holds one, descriptors.go keeps the worker's own files from commands,
// output.go and tail.go have the output, sink.go and sink_process.go the process that reads it after the death of the worker.
package worker
