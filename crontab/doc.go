// Package crontab reads the crontabs of real machines: what crontab(5) describes, with the dialects that are in use. It
// yields each line that runs a command as an Entry, and each line that cannot be used as a Refusal that says why and
// what would be right. It runs nothing, opens no file and keeps no state between two crontabs.
//
// Supported besides the five fields: the macros @hourly to @yearly, @every_minute and @every_second (FreeBSD), a leading
// dash (SUSE: do not log the run), CRON_TZ, assignments with quotes, and the percent signs that separate a command from its
// standard input. Refused: @reboot, random times (~ of OpenBSD, RANDOM_DELAY of cronie), and the table of anacron, which
// has another format (IsAnacron).
//
// The package does not interpret the fields of a schedule: Reader.Check decides which schedules are valid.
//
// The path of a line: Reader.Read (read.go) skips what runs nothing and puts assignments into force, line.go takes the
// other lines apart, and refusal.go says what is wrong with a line. The caller names entries by Names (name.go), and
// asks path.go which format a file has. Parsing is a function of the text alone: the same text gives the same entries
// and names on every machine, so an import that is repeated changes nothing.
//
// A line that is refused never becomes an entry with a guess in it. A job that runs at another time than in cron is
// worse than one that is missing and reported.
package crontab
