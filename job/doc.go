// Package job defines the terms of Carillon as types: definitions, runs, policies and states, their validation, and
// the codec of their rows. It does no I/O, starts no goroutine and reads no clock. Package schedule has the language
// of schedules.
//
// # Glossary
//
//	job         a named definition, unique in its tenant: schedules, one target, policies, payload
//	slot        one of the 256 parts into which the names of jobs are divided by a hash; a job's id contains its slot
//	schedule    when: cron expressions, @every, @at, with timezone, window and exclusions
//	tick        an instant that a schedule names
//	exclusion   removes ticks from a schedule: dates, ranges, a cron expression, a calendar
//	calendar    a named list of exclusions, unique in its tenant
//	run         one firing of a job for one scheduled time; identity: (job id, scheduled time, manual number)
//	attempt     one delivery of a run, numbered from 1
//	fence       monotonic token of an attempt: the LSN of the commit that started it
//	decision    the record that settles a (job, scheduled time): fired, or skipped with a reason
//	cursor      every tick of a job before its cursor is decided, none at or after it is
//	debt        missed ticks of a job that are still to be fired
//	report      the outcome that a worker sends for its run; the run waits for it until its deadline
//	notice      a change of a run that is still to be published
//	profile     the part of a definition that decisions need and that many jobs share; interned
//	batch       the row changes of one commit
//
// docs/words.md is the glossary of the whole program.
//
// # States of a run
//
//	            launch            delivered
//	pending ------------> running ---------> succeeded   (or reported)
//	   |                   |   ^
//	   |            failed |   | launch
//	   |                   v   |
//	   |                 retrying ---------> dead        (attempts or age exhausted, or refused)
//	   |                   |   ^               |
//	   +--> skipped        |   +---------------+         (retried by a caller)
//	   +--> cancelled <----+                             (job deleted, or requested)
//
// pending and retrying are in the log. running is known to the launch pad only; it is in the log only while a report
// is awaited. The other states are final. A cancelled run can be retried by a caller, like a dead one.
//
// # From a request to rows
//
// A definition comes from package api and is checked here: validate.go has the fields, validate_target.go,
// subject.go, host.go and network.go have where a run may go, headers.go has what it may carry. Its schedules are
// compiled by package schedule. Each stored job is then split into rows (rows.go): a cold Record that only readers
// and deliveries need, a hot Timer that decisions need, and a Profile that many jobs share. The engine collects the
// rows of one commit in a Batch (batch.go), whose bytes are what the log stores and what standbys apply. key.go lays
// out the keys, codec*.go the values, row_version.go the versions of both.
//
// A tick becomes a Run (run.go), a Delivery and an Outcome (delivery.go), and on the way perhaps a Debt (debt.go), a
// Notice (notice.go) and an AuditEntry (audit.go). Whatever is shown of a job passes credential*.go, which mask what
// must not be shown.
//
// # What holds for the whole package
//
// Types are values without locks: the owner of a value, mostly the loop of the engine or the goroutine of one
// request, is the only one that changes it. Encoders are deterministic: equal values have equal bytes. Decoders of
// values return [ErrRow] for any malformed bytes, and never panic: rows come from disks and from other nodes. The
// numeric values of kinds, statuses, reasons, policies and actions are on disk; a new one is added at the end, and
// none is reused.
package job
