package apitest

import (
	"strings"

	"github.com/carillon-io/carillon/client"
)

// manyLines is a list of n good schedules.
func manyLines(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`"@daily",`, n), ",") + "]"
}

// badSchedules lists bad schedules, zones and exclusions. The error names the line of a list by its index.
func badSchedules() []BadRequest {
	cron, zone, wrong, large := client.CodeInvalidSchedule, client.CodeInvalidTimezone, client.CodeInvalidField, client.CodeTooLarge
	return []BadRequest{
		// What a schedule may say. Some can be read, but would never fire, or far too often.
		badPut("no schedule", JobWith("schedule", "-"), cron, "schedule"),
		badPut("four fields", JobWith("schedule", `"* * * *"`), cron, "schedule"),
		badPut("minute 61", JobWith("schedule", `"61 * * * *"`), cron, "schedule"),
		badPut("February 30", JobWith("schedule", `"0 0 30 2 *"`), cron, "schedule"),
		badPut("too often", JobWith("schedule", `"@every 1ms"`), cron, "schedule"),
		badPut("backwards", JobWith("schedule", `"@every -5s"`), cron, "schedule"),
		badPut("no such macro", JobWith("schedule", `"@sometimes"`), cron, "schedule"),
		badPut("no time", JobWith("schedule", `"@at tomorrow"`), cron, "schedule"),
		badPut("time without a zone", JobWith("schedule", `"@at 2100-01-01T00:00:00"`), cron, "schedule"),
		badPut("past", JobWith("schedule", `"@at 2020-01-01T00:00:00Z"`), cron, "schedule"),
		badPut("long schedule", JobWith("schedule", `"`+strings.Repeat("1,", 200)+`1 * * * *"`), cron, "schedule"),
		// A zone must mean the same on every node. Local is that of a machine, and a path could read any file of
		// it.
		badPut("no such zone", JobWith("timezone", `"Mars/Olympus"`), zone, "timezone"),
		badPut("zone of the machine", JobWith("timezone", `"Local"`), zone, "timezone"),
		badPut("zone is a path", JobWith("timezone", `"../../etc/passwd"`), zone, "timezone"),
		badPut("zone prefix", JobWith("schedule", `"CRON_TZ=Nowhere 0 8 * * *"`), zone, "timezone"),
		// A line break would make two schedules of one, because the definition of a job keeps its schedules as
		// lines.
		badPut("two lines in one schedule", JobWith("schedule", `"0 8 * * *\n0 9 * * *"`), cron, "schedule"),
		// The list, which takes the place of the single schedule. Its errors name the line.
		badPut("schedule and schedules", JobWith("schedules", `["@daily"]`), cron, "schedules"),
		badPut("empty list of schedules", JobWith("schedule", "-", "schedules", `[]`), cron, "schedule"),
		badPut("schedules are a text", JobWith("schedule", "-", "schedules", `"@daily"`), wrong, "schedules"),
		badPut("schedule in a list is a number", JobWith("schedule", "-", "schedules", `["@daily", 5]`), wrong, "schedules.1"),
		badPut("empty schedule in a list", JobWith("schedule", "-", "schedules", `["@daily", " "]`), cron, "schedules.1"),
		badPut("two lines in a list", JobWith("schedule", "-", "schedules", `["@daily\n@hourly"]`), cron, "schedules.0"),
		badPut("long schedule in a list", JobWith("schedule", "-", "schedules", `["@daily","`+strings.Repeat("1,", 200)+`1 * * * *"]`), cron, "schedules.1"),
		// One more than a job may have; so is the list of exclusions below.
		badPut("many schedules", JobWith("schedule", "-", "schedules", manyLines(17)), large, "schedules"),
		// Exclusions follow the rules of a list of schedules.
		badPut("exclusion is a text", JobWith("exclude", `"2026-12-25"`), wrong, "exclude"),
		badPut("empty exclusion", JobWith("exclude", `[""]`), cron, "exclude.0"),
		badPut("two lines in an exclusion", JobWith("exclude", `["2026-12-25\r2026-12-26"]`), cron, "exclude.0"),
		badPut("many exclusions", JobWith("exclude", manyLines(65)), large, "exclude"),
		// A preview refuses what a put refuses. A calendar that it cannot look up is an error too, because without
		// it the times would be wrong.
		bad("nothing to preview", "schedules.next", `{}`, cron, "schedule"),
		bad("preview of both", "schedules.next", `{"schedule":"@daily","schedules":["@hourly"]}`, cron, "schedules"),
		bad("preview without an unknown calendar", "schedules.next", `{"schedule":"@daily","exclude":["@calendar unknown"]}`, cron, "exclude.0"),
		bad("preview without a bad calendar", "schedules.next", `{"schedule":"@daily","exclude":["@calendar a b"]}`, cron, "exclude.0"),
		bad("preview without a nameless calendar", "schedules.next", `{"schedule":"@daily","exclude":["@calendar"]}`, cron, "exclude.0"),
	}
}
