// Package schedule is the schedule language: it compiles expressions (cron, @every, @at, and lists of them), exclusions
// and calendars under the rules of a time zone, and finds the ticks before and after an instant.
//
// A [Spec] is the text of a schedule, and a [Schedule] what it compiles to: immutable, and safe for concurrent use.
// [Zones] holds the rules of time zones that it is compiled under, from this binary or from the machine. The package
// reads no clock and keeps no state but bounded caches of what it compiled. The rules for clock changes are those of
// ISC cron; docs/schedules.md has them for users.
package schedule
