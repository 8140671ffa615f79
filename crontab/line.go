package crontab

import "strings"

// scheduleFields is the number of fields before the command, unless a macro such as @daily replaces them.
const scheduleFields = 5

// cutEntry reads the schedule, the user if there is a user column, and the command of a line. It leaves Line, Zone and
// Env of the entry to its callers. A line of a user's crontab that is read with a user column loses the first word of
// its command, and fails only if that was the only one; so the caller must know which format it has (HasUserColumn).
func cutEntry(line string, system bool) (e Entry, refusal *Refusal) {
	line = strings.TrimPrefix(line, "-") // SUSE: do not log the run
	var rest string
	if e.Schedule, rest, refusal = cutSchedule(line); refusal != nil {
		return e, refusal
	}
	if system {
		if e.User, rest = cutField(rest); e.User == "" || rest == "" {
			return e, &Refusal{Reason: ErrNoUser}
		}
	}
	if e.Command, e.Stdin = cutInput(rest); e.Command == "" {
		return e, refuse("has a schedule and no command", "")
	}
	return e, nil
}

// cutSchedule cuts the schedule off the front of a line. It joins the fields by single blanks, so that a change of the
// blanks in a crontab changes no job. It refuses ~ itself: to Reader.Check it would only be a wrong field.
func cutSchedule(line string) (schedule, rest string, refusal *Refusal) {
	if line != "" && line[0] == '@' {
		return cutMacro(line)
	}
	fields := make([]string, scheduleFields)
	rest = line
	for i := range fields {
		if fields[i], rest = cutField(rest); fields[i] == "" {
			return "", "", refusef("", "has %d of the %d fields of a schedule (minute, hour, day of month, month, day of week) and no command", i, scheduleFields)
		}
		if strings.Contains(fields[i], "~") {
			return "", "", refusef("choose a fixed one", "uses ~ in %q, a random time, which is not supported", fields[i])
		}
	}
	return strings.Join(fields, " "), rest, nil
}

// cutMacro cuts a schedule such as @daily off the front of a line. Macros that the schedule language has stay as they
// are; those of FreeBSD become what they mean. Case counts, as it does in cron.
func cutMacro(line string) (schedule, rest string, refusal *Refusal) {
	macro, rest := cutField(line)
	switch macro {
	case "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
		return macro, rest, nil
	case "@every_minute":
		return "* * * * *", rest, nil
	case "@every_second":
		return "@every 1s", rest, nil
	case "@reboot":
		return "", "", refuse("@reboot means the start of a machine, which is no time on a clock", "let that machine's init system start the command")
	}
	return "", "", refusef("want five fields, @hourly, @daily, @weekly, @monthly or @yearly", "%s is unknown", clip(macro))
}

// cutField cuts the first word off s; rest begins with the next word.
func cutField(s string) (field, rest string) {
	s = strings.TrimLeft(s, " \t")
	if end := strings.IndexAny(s, " \t"); end >= 0 {
		return s[:end], strings.TrimLeft(s[end:], " \t")
	}
	return s, ""
}

// cutInput splits a command at its first unescaped percent sign. The text after the sign is the command's standard
// input, in which each further percent sign is a line break. In the command, \% becomes %; other backslashes stay,
// because they are for the shell. Cron knows no quotes here: a percent sign in quotes splits the command as well.
func cutInput(text string) (command, stdin string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '%':
			return b.String(), inputLines(text[i+1:])
		case text[i] == '\\' && i+1 < len(text):
			i++
			if text[i] != '%' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(text[i])
	}
	return b.String(), ""
}

// inputLines turns the percent signs of an input into line breaks and ends the last line. Unlike in a command, a
// backslash before a percent sign always escapes it, even if another backslash precedes.
func inputLines(text string) string {
	var b strings.Builder
	for i := range len(text) {
		escaped := i > 0 && text[i-1] == '\\'
		next := i+1 < len(text) && text[i+1] == '%'
		switch {
		case text[i] == '%' && !escaped:
			b.WriteByte('\n')
		case text[i] == '\\' && next:
		default:
			b.WriteByte(text[i])
		}
	}
	if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// cutAssignment reads a line such as MAILTO=root or PATH = "/bin:/usr/bin". Quotes keep the blanks at the ends of a
// value and are not part of it. Variables in a value are not expanded, as cron does not expand them either. A line with
// an equals sign is an assignment only if nothing but a name stands before it; no schedule looks like one.
func cutAssignment(line string) (name, value string, ok bool) {
	left, right, ok := strings.Cut(line, "=")
	name = unquote(strings.Trim(left, " \t"))
	if !ok || !isVariable(name) {
		return "", "", false
	}
	return name, unquote(strings.Trim(right, " \t")), true
}

// unquote removes one pair of equal quotes around s.
func unquote(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

// isVariable reports whether s is the name of an environment variable: ASCII letters, digits and underscores, of which
// no digit comes first. The empty string is none.
func isVariable(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// clip shortens a word of a crontab for a message, to at most 60 bytes and an ellipsis. It cuts no character in half.
func clip(word string) string {
	const bytesMax = 60
	if len(word) <= bytesMax {
		return word
	}
	return strings.ToValidUTF8(word[:bytesMax], "") + "…"
}
