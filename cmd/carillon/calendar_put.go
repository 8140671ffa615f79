package main

import (
	"context"
	"strings"

	"github.com/carillon-io/carillon/client"
)

// calendarFileBytesMax bounds the file of --file. The server's bounds on lines and on their length are far below
// it.
const calendarFileBytesMax = 1 << 20

// calendarPutCmd creates or replaces a calendar. There is no condition on a version: a calendar is replaced as a
// whole, and its file is the source.
type calendarPutCmd struct {
	Name        string   `arg:"" help:"Name of the calendar." complete:"@calendars"`
	Lines       []string `arg:"" optional:"" name:"line" help:"Exclusions: a date, a range or a cron expression each."`
	File        string   `short:"f" help:"File with one exclusion on each line, in place of the arguments; empty lines and lines that begin with # are skipped; - is standard input." placeholder:"FILE"`
	Description string   `help:"Text for people."`
	remoteFlags
	outputFlag
}

// Help is what `carillon calendar put --help` says besides the flags.
func (*calendarPutCmd) Help() string {
	return `Examples:

  carillon calendar put holidays 2026-12-25 2026-12-26 '0 0 1 1 *'
  carillon calendar put holidays --file holidays.txt --description 'Days off in Berlin'`
}

// Run implements the command.
func (c *calendarPutCmd) Run(ctx context.Context, con *console) error {
	lines, err := c.lines(con)
	if err != nil {
		return err
	}
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	calendar, created, err := r.PutCalendar(ctx, client.CalendarRequest{Name: c.Name, Exclude: lines, Description: c.Description})
	if err != nil {
		return err
	}
	if c.isDocument() {
		return c.print(con, client.CalendarPutReply{Calendar: calendar, Created: created})
	}
	verb := "updated"
	if created {
		verb = "created"
	}
	con.printf("%s calendar %s, version %d, %s\n", verb, calendar.Name, calendar.Version, plural(len(calendar.Exclude), "line"))
	return nil
}

// lines returns the exclusions of the calendar, from the arguments or the file. Empty lines and comments of a file are
// left out; the server checks the others.
func (c *calendarPutCmd) lines(con *console) ([]string, error) {
	// An empty calendar is put by an empty file, and not by leaving both out.
	if (c.File == "") == (len(c.Lines) == 0) {
		return nil, usagef("want what to leave out, such as 2026-12-25, or --file FILE, and not both")
	}
	if c.File == "" {
		return c.Lines, nil
	}
	text, err := con.readInput(c.File, calendarFileBytesMax)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		// No exclusion begins with #, so a comment cannot be mistaken for one.
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines, nil
}
