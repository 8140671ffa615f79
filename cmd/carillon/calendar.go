package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/client"
)

// calendarCmd groups the commands for calendars.
type calendarCmd struct {
	Put    calendarPutCmd    `cmd:"" help:"Create a calendar, or replace the one of that name."`
	Get    calendarGetCmd    `cmd:"" help:"Show a calendar."`
	List   calendarListCmd   `cmd:"" help:"List calendars."`
	Delete calendarDeleteCmd `cmd:"" help:"Delete calendars that no job refers to."`
}

// Help is what `carillon calendar --help` says besides the commands.
func (*calendarCmd) Help() string {
	return `A calendar is a named list of exclusions. A job refers to it with --exclude '@calendar NAME' and follows its changes.

Examples:

  carillon calendar put holidays 2026-12-25 2026-12-26 '0 0 1 1 *'
  carillon job put open --schedule '0 9 * * 1-5' --exclude '@calendar holidays' --target nats:doors.open`
}

// calendarGetCmd shows a calendar. The lines are printed as they were put, one in each row.
type calendarGetCmd struct {
	Name string `arg:"" help:"Name of the calendar." complete:"@calendars"`
	remoteFlags
	outputFlag
}

// Help is what `carillon calendar get --help` says besides the flags.
func (*calendarGetCmd) Help() string {
	return `Examples:

  carillon calendar get holidays
  carillon calendar get holidays -o json | jq -r '.calendar.exclude[]'`
}

// Run implements the command.
func (c *calendarGetCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	calendar, err := r.Calendar(ctx, c.Name)
	if err != nil {
		return err
	}
	if c.isDocument() {
		return c.print(con, client.CalendarReply{Calendar: calendar})
	}
	t := con.table()
	t.Row("name", calendar.Name)
	for _, line := range calendar.Exclude {
		t.Row("exclude", line)
	}
	if calendar.Description != "" {
		t.Row("description", calendar.Description)
	}
	t.Row("version", fmt.Sprintf("%d, updated %s", calendar.Version, showTime(calendar.UpdatedAt)))
	return t.Flush()
}

// calendarListCmd lists calendars. It prints how many lines each has; a calendar may have a thousand.
type calendarListCmd struct {
	Limit int `help:"Largest number to print; 0 is no limit." placeholder:"N"`
	remoteFlags
	outputFlag
}

// Help is what `carillon calendar list --help` says besides the flags.
func (*calendarListCmd) Help() string {
	return `Examples:

  carillon calendar list
  carillon calendar list -o yaml`
}

// Run implements the command.
func (c *calendarListCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	calendars := atMost(r.Calendars(ctx, client.CalendarListRequest{Limit: pageSize(c.Limit)}), c.Limit)
	if c.isDocument() {
		return printList(con, c.Output, "calendars", calendars)
	}
	return printRows(con, calendars, []string{"NAME", "LINES", "UPDATED", "DESCRIPTION"}, func(c *client.Calendar) []string {
		return []string{c.Name, fmt.Sprint(len(c.Exclude)), showTime(c.UpdatedAt), c.Description}
	})
}

// calendarDeleteCmd deletes calendars. A calendar that is deleted or missing does not stop the others; the errors are
// returned together.
type calendarDeleteCmd struct {
	Names []string `arg:"" name:"name" help:"Names of the calendars." complete:"@calendars"`
	remoteFlags
	outputFlag
}

// Help is what `carillon calendar delete --help` says besides the flags.
func (*calendarDeleteCmd) Help() string {
	return `Examples:

  carillon calendar delete holidays`
}

// Run implements the command.
func (c *calendarDeleteCmd) Run(ctx context.Context, con *console) error {
	r, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	var errs []error
	for _, name := range c.Names {
		err := r.DeleteCalendar(ctx, name)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		// Each deletion is a document of its own, so that a failure in between leaves those before it.
		case c.isDocument():
			errs = append(errs, c.print(con, client.CalendarDeleteReply{Deleted: true}))
		default:
			con.printf("deleted calendar %s\n", name)
		}
	}
	return errors.Join(errs...)
}
