package api

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

func TestCalendars(t *testing.T) {
	d, c := startDesk(t, 0)
	ctx := t.Context()
	want := client.Calendar{Name: "holidays", Exclude: []string{"2026-12-25", "0 0 * * 0"}, Description: "Days off.", Version: 1, UpdatedAt: timeOf(apitest.DeskAt)}
	put, created, err := c.PutCalendar(ctx, client.CalendarRequest{Name: want.Name, Exclude: want.Exclude, Description: want.Description})
	if err != nil || !created || !reflect.DeepEqual(put, want) {
		t.Errorf("put: %+v, %t, %v", put, created, err)
	}
	if asked := (job.Calendar{Tenant: "default", Name: "holidays", Exclude: want.Exclude, Description: "Days off."}); !reflect.DeepEqual(d.Asked, asked) {
		t.Errorf("the engine was asked for %+v, want %+v", d.Asked, asked)
	}
	if got, err := c.Calendar(ctx, "holidays"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("get: %+v, %v", got, err)
	}
	if empty, _, err := c.PutCalendar(ctx, client.CalendarRequest{Name: "none"}); err != nil || len(empty.Exclude) != 0 {
		t.Errorf("put of an empty one: %+v, %v", empty, err)
	}
	if err := c.DeleteCalendar(ctx, "holidays"); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := c.DeleteCalendar(ctx, "unknown"); !client.IsNotFound(err) {
		t.Errorf("delete of one that is not: %v", err)
	}
}

// TestCalendarPages lists calendars that do not fit one message, in pages that they do not fill evenly.
func TestCalendarPages(t *testing.T) {
	d, c := startDesk(t, 16<<10)
	for i := range 50 {
		d.Kept = append(d.Kept, job.Calendar{
			Tenant: "default", Name: fmt.Sprintf("c-%02d", i), Exclude: []string{strings.Repeat("1,", 100) + "1 * * * *"}, Description: strings.Repeat("x", 1000),
		})
	}
	for _, limit := range []int{1, 10, 30, 50, 1000} {
		n := 0
		for calendar, err := range c.Calendars(t.Context(), client.CalendarListRequest{Limit: limit}) {
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("c-%02d", n); calendar.Name != want {
				t.Errorf("limit %d: %s, want %s", limit, calendar.Name, want)
			}
			n++
		}
		if n != 50 {
			t.Errorf("limit %d: %d calendars", limit, n)
		}
	}
}

// TestPreviewFollowsCalendars: a preview leaves out what the tenant's calendars leave out.
func TestPreviewFollowsCalendars(t *testing.T) {
	d := apitest.NewDesk(t)
	d.Kept = []job.Calendar{
		{Tenant: "default", Name: "holidays", Exclude: []string{"2026-12-25", "2026-12-26"}},
		{Tenant: "other", Name: "theirs", Exclude: []string{"2026-12-31"}},
	}
	s := &Executor{engine: d, opts: Options{Zones: schedule.EmbeddedZones()}}
	q := nextRequest{after: instant.Of(time.Date(2026, 12, 24, 12, 0, 0, 0, time.UTC)), count: 1}
	q.def.Schedule, q.def.Exclude = "0 9 * * *", []string{" @calendar  holidays", "2026-12-27"}
	got, err := s.next(t.Context(), "default", &q)
	if err != nil || got.(*client.NextReply).Times[0].Day() != 28 {
		t.Errorf("%+v, %v; want the 28th", got, err)
	}
	q.def.Exclude = []string{"@calendar theirs"}
	if got, err := s.next(t.Context(), "default", &q); apierr.From(err).Field != "exclude.0" {
		t.Errorf("another tenant's calendar: %+v, %v", got, err)
	}
}
