// Package job holds the words of Carillon as types: definitions, schedules, runs, policies, states,
// their validation and the codec of their rows. It does no I/O, starts nothing and reads no clock.
//
// # Glossary
//
//	job         a named definition, unique in its tenant: one schedule, one target, policies, payload
//	schedule    when: cron expression, @every, @at, with timezone and window
//	run         one firing of a job for one scheduled time; identity: (job id, scheduled time, manual number)
//	attempt     one delivery of a run, numbered from 1
//	fence       monotonic token of an attempt: the LSN of the commit that started it
//	decision    the record that settles a (job, scheduled time): fired, or skipped with a reason
//	cursor      every tick of a job before its cursor is decided, none at or after it is
//	profile     the part of a definition that decisions need and that many jobs share; interned
//	batch       the row changes of one commit
//
// # States of a run
//
//	            launch            delivered
//	pending ------------> running ---------> succeeded
//	   |                   |   ^
//	   |            failed |   | launch
//	   |                   v   |
//	   |                 retrying ---------> dead        (attempts or age exhausted)
//	   |                   |
//	   +--> skipped        +--> cancelled                (job deleted)
//
// pending and retrying are in the log; running is what the launch pad knows; the rest are final.
package job
