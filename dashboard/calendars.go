package dashboard

import (
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
)

// The bounds of the page of a calendar.
const (
	monthsShown  = 3
	usersRead    = 500 // jobs that one page searches for references to the calendar
	hoursOfMonth = 31*24 + 1
)

// calendarsBody is the content of the list of calendars.
type calendarsBody struct {
	Calendars   []client.Calendar
	Next, First string
}

// calendars returns the list of calendars.
func (v *visit) calendars() view {
	body := &calendarsBody{}
	p := view{page: "calendars", title: "Calendars", active: "/calendars", body: body}
	request := client.CalendarListRequest{Cursor: v.query.Get("cursor")}
	var err error
	if request.Limit, err = v.rows(); err != nil {
		p.err = err
		return p
	}
	page, err := v.client.ListCalendars(v.req.Context(), request)
	if err != nil {
		p.err = err
		return p
	}
	body.Calendars, body.Next, body.First = page.Calendars, v.onward(page.NextCursor), v.first()
	return p
}

// calendarBody is the content of the page of a calendar: its lines, its months in a zone, and jobs that refer to it.
type calendarBody struct {
	Calendar       client.Calendar
	Zone           string
	Months         []month
	Earlier, Later string // addresses of the months before and after
	// Users are the jobs that refer to the calendar among those that were searched; Next continues the search.
	Users       []client.JobInfo
	Next, First string
	Zones       []string
}

// month is a month with its weeks, each of which begins with Monday.
type month struct {
	Name  string
	Weeks [][]day
}

// day is a day of a month, or with the number 0 one of another month. Tone is out if no hour of it has a tick, part if some
// have none, and "" otherwise.
type day struct {
	Number  int
	Tone    string
	IsToday bool
}

// calendar returns the page of a calendar. What the calendar excludes depends on the zone of the job that refers to it,
// so the page shows the days in one zone, which is UTC unless the address names another.
func (v *visit) calendar() view {
	name, zone := v.query.Get("name"), orElse(v.query.Get("zone"), "UTC")
	c, err := v.client.Calendar(v.req.Context(), name)
	if err != nil {
		return view{page: "failed", title: "Calendar " + clip(name), active: "/calendars", err: err}
	}
	body := &calendarBody{Calendar: c, Zone: zone, Zones: zones}
	p := view{page: "calendar", title: name, active: "/calendars", body: body}
	if p.err = body.draw(v); p.err == nil {
		p.err = body.findUsers(v)
	}
	return p
}

// draw draws the months, from that of the address, or the present one.
func (b *calendarBody) draw(v *visit) error {
	loc, err := v.dashboard.opts.Location(b.Zone)
	if err != nil {
		zone := b.Zone
		b.Zone = "UTC"
		return invalid("zone", "%q is no timezone; want a name such as Europe/Berlin", clip(zone))
	}
	today := v.now.In(loc)
	first := time.Date(today.Year(), today.Month(), 1, 0, 0, 0, 0, loc)
	if text := v.query.Get("month"); text != "" {
		if first, err = time.ParseInLocation("2006-01", text, loc); err != nil || first.Year() < 1971 || first.Year() > 2198 {
			return invalid("month", "%q is no month; want one such as 2026-12, from 1971 to 2198", clip(text))
		}
	}
	for i := range monthsShown {
		m, err := v.monthOf(b.Calendar.Name, b.Zone, first.AddDate(0, i, 0), today)
		if err != nil {
			return err
		}
		b.Months = append(b.Months, m)
	}
	other := func(months int) string {
		return v.link("/calendar", "name", b.Calendar.Name, "zone", v.query.Get("zone"), "month", first.AddDate(0, months, 0).Format("2006-01"))
	}
	b.Earlier, b.Later = other(-monthsShown), other(monthsShown)
	return nil
}

// monthOf draws a month of a calendar. An hourly schedule shows what is excluded: a day without a tick is out, and one with
// fewer ticks than without the calendar is out in part.
func (v *visit) monthOf(calendar, zone string, first, today time.Time) (month, error) {
	all, err := v.hours(zone, first)
	var left [32]int
	if err == nil {
		left, err = v.hours(zone, first, "@calendar "+calendar)
	}
	m := month{Name: first.Format("January 2006")}
	// The days are counted and not stepped through: zones have skipped whole days, such as Pacific/Apia 2011-12-30, and a day's
	// step from the one before leads back to it.
	year, number, _ := first.Date()
	days := time.Date(year, number+1, 0, 0, 0, 0, 0, time.UTC).Day()
	thisYear, thisMonth, thisDay := today.Date()
	var week []day
	for range (int(time.Date(year, number, 1, 0, 0, 0, 0, time.UTC).Weekday()) + 6) % 7 {
		week = append(week, day{})
	}
	for d := 1; d <= days; d++ {
		one := day{Number: d, IsToday: year == thisYear && number == thisMonth && d == thisDay}
		switch {
		case left[one.Number] == 0:
			one.Tone = "out"
		case left[one.Number] < all[one.Number]:
			one.Tone = "part"
		}
		if week = append(week, one); len(week) == 7 {
			m.Weeks, week = append(m.Weeks, week), nil
		}
	}
	for len(week) > 0 && len(week) < 7 {
		week = append(week, day{})
	}
	if len(week) > 0 {
		m.Weeks = append(m.Weeks, week)
	}
	return m, err
}

// hours returns the number of hourly ticks of each day of a month that exclusions leave.
func (v *visit) hours(zone string, first time.Time, exclude ...string) (days [32]int, err error) {
	reply, err := v.client.Next(v.req.Context(), client.NextRequest{
		Schedule: "0 * * * *", Timezone: zone, Exclude: exclude, After: client.At(first.Add(-time.Millisecond)), Count: hoursOfMonth,
	})
	for _, t := range reply.Times {
		at := t.In(first.Location())
		if at.Month() != first.Month() || at.Year() != first.Year() {
			break
		}
		days[at.Day()]++
	}
	return days, err
}

// findUsers searches a page of jobs for those that refer to the calendar. There may be millions of jobs and no index of
// what they exclude, so one page searches usersRead of them, and the next address goes on.
func (b *calendarBody) findUsers(v *visit) error {
	page, err := v.client.List(v.req.Context(), client.ListRequest{Limit: usersRead, Cursor: v.query.Get("cursor")})
	if err != nil {
		return err
	}
	b.Users = slices.DeleteFunc(page.Jobs, func(j client.JobInfo) bool { return !slices.Contains(calendarsIn(j.Exclude), b.Calendar.Name) })
	b.Next, b.First = v.onward(page.NextCursor), v.first()
	return nil
}

// calendarsIn returns the names of the calendars to which exclusions refer.
func calendarsIn(exclude []string) (names []string) {
	for _, line := range exclude {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "@calendar "); found {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// CalendarQuery returns the zone of the job as a parameter of the address of a calendar.
func (b *jobBody) CalendarQuery() string {
	if zone := b.ZoneName(); zone != "UTC" {
		return zone
	}
	return ""
}

// Calendars returns the names of the calendars to which the job refers.
func (b *jobBody) Calendars() []string { return calendarsIn(b.Job.Exclude) }
