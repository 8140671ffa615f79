// Package schedule is the schedule language: it compiles expressions (cron, @every, @at, and lists of them), exclusions
// and calendars under the rules of a time zone, and finds the ticks before and after an instant.
//
// A [Spec] is the text of a schedule, and a [Schedule] what it compiles to: immutable, and safe for concurrent use.
// [Zones] holds the rules of time zones that it is compiled under, from this binary or from the machine. The package
// reads no clock and keeps no state but bounded caches of what it compiled. The rules for clock changes are those of
// ISC cron; docs/schedules.md has them for users.
//
// # From text to ticks
//
// parse.go splits a Spec: many.go has several expressions, at.go, every.go and cron_compile.go one of each kind,
// zone.go its zone, exclude_compile.go and exclude_parse.go its exclusions. cron_field.go, cron_item.go and
// cron_moving_parse.go check and normalise the fields of a cron expression, cron_explain.go says what is wrong with
// one. schedule.go asks for ticks. A cron expression is a pattern of wall times (cron_pattern.go, cron_month.go,
// cron_moving.go, cron_year.go), which cron.go maps to instants by the periods of a zone (zone_period.go). exclude.go
// and exclude_day.go remove what is excluded, and kept.go searches on. preview.go lists ticks with notes about clock
// changes.
//
// # Why it does not walk
//
// A schedule may have one tick in a century, and an exclusion may remove all but one of a million ticks. No search
// goes from tick to tick or from second to second: patterns are bits, which are searched by day and month, exclusions
// are ranges that are jumped over, and the last tick before an instant is found by bisection. Where a search must go
// from one excluded range to the next, or through days of which hardly two have the same exclusions, it counts its
// steps and gives up after [StepsMax] of them (search.go). So the cost of one call is bounded, whatever a caller
// registers, and it is the same on every node.
package schedule
