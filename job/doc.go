// Package job holds the words of Carillon as types: definitions, schedules, runs, policies, states,
// their validation and the codec of their rows. It does no I/O, starts nothing and reads no clock.
//
// # Glossary
//
//	job         a named definition, unique in its tenant: one schedule, one target, policies, payload
//	schedule    when: cron expressions, @every, @at, with timezone, window and exclusions
//	tick        an instant of a schedule
//	exclusion   what is no tick although an expression has it: dates, ranges, a cron expression, a calendar
//	calendar    a named list of exclusions, unique in its tenant
//	run         one firing of a job for one scheduled time; identity: (job id, scheduled time, manual number)
//	attempt     one delivery of a run, numbered from 1
//	fence       monotonic token of an attempt: the LSN of the commit that started it
//	decision    the record that settles a (job, scheduled time): fired, or skipped with a reason
//	cursor      every tick of a job before its cursor is decided, none at or after it is
//	debt        missed ticks of a job that are still to be fired
//	report      what a worker says became of a run; awaited until its deadline
//	notice      news of a run for the world outside, kept until it is published
//	profile     the part of a definition that decisions need and that many jobs share; interned
//	batch       the row changes of one commit
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
//	   +--> skipped        |   +---------------+         (retried by hand)
//	   +--> cancelled <----+                             (job deleted, or asked for)
//
// pending and retrying are in the log; running is what the launch pad knows, and in the log only while a
// report is to come; the rest are final. A run that was cancelled can be retried by hand like a dead one.
package job
