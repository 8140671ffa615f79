// Package job defines the terms of Carillon as types: definitions, runs, policies and states, their validation, and
// the codec of their rows. It does no I/O, starts no goroutine and reads no clock. Package schedule has the language
// of schedules.
//
// # Glossary
//
//	job         a named definition, unique in its tenant: schedules, one target, policies, payload
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
package job
