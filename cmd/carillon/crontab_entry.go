package main

import (
	"errors"
	"fmt"
	"strings"
)

// cronFields is how many fields stand before the command, unless a macro such as @daily does.
const cronFields = 5

// cutEntry reads schedule, user and command of a line.
func (c *crontab) cutEntry(line string) (e cronEntry, err error) {
	if quiet, found := strings.CutPrefix(line, "-"); found {
		line = quiet // a dialect's mark not to log the run
	}
	var rest string
	if e.schedule, rest, err = cutSchedule(line); err != nil {
		return e, err
	}
	if c.system {
		if e.user, rest = cutField(rest); e.user == "" || rest == "" {
			return e, errors.New("wants a user and a command after the schedule, as a system crontab has; a user's own crontab is imported with --no-system")
		}
	}
	if e.command, e.stdin = cutInput(rest); e.command == "" {
		return e, errors.New("has a schedule and no command")
	}
	return e, nil
}

// cutSchedule takes the schedule off the front of a line.
func cutSchedule(line string) (schedule, rest string, err error) {
	if line != "" && line[0] == '@' {
		return cutMacro(line)
	}
	fields := make([]string, cronFields)
	rest = line
	for i := range fields {
		if fields[i], rest = cutField(rest); fields[i] == "" {
			return "", "", fmt.Errorf("has %d of the %d fields of a schedule (minute, hour, day of month, month, day of week) and no command", i, cronFields)
		}
		if strings.Contains(fields[i], "~") {
			return "", "", fmt.Errorf("uses ~ in %q, a random time, which is not supported; choose a fixed one", fields[i])
		}
	}
	return strings.Join(fields, " "), rest, nil
}

// cutMacro takes a schedule such as @daily off the front of a line.
func cutMacro(line string) (schedule, rest string, err error) {
	macro, rest := cutField(line)
	switch macro {
	case "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
		return macro, rest, nil
	case "@every_minute":
		return "* * * * *", rest, nil
	case "@every_second":
		return "@every 1s", rest, nil
	case "@reboot":
		return "", "", errors.New("@reboot means the start of a machine, which is no time on a clock; let that machine's init system start the command")
	}
	return "", "", fmt.Errorf("%s is unknown; want five fields, @hourly, @daily, @weekly, @monthly or @yearly", clip(macro))
}

// cutField takes the first word off s; rest begins with the one after it.
func cutField(s string) (field, rest string) {
	s = strings.TrimLeft(s, " \t")
	if end := strings.IndexAny(s, " \t"); end >= 0 {
		return s[:end], strings.TrimLeft(s[end:], " \t")
	}
	return s, ""
}

// cutInput divides a command at its first percent sign that no backslash precedes: what follows is
// the command's standard input, a line for each further one. Before a percent sign, the backslash goes.
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

// inputLines turns percent signs into line breaks and ends the last line. Here, unlike in a command,
// every backslash takes the meaning from the percent sign after it, an escaped backslash too.
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

// clip shortens what a user wrote for a message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
