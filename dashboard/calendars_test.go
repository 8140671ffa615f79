package dashboard_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// daysOf returns the days of a page of a calendar that have a class, of all months together.
func daysOf(page, class string) (days []string) {
	for _, m := range regexp.MustCompile(`<td class="`+class+`"[^>]*>(\d+)`).FindAllStringSubmatch(page, -1) {
		days = append(days, m[1])
	}
	return days
}

// TestCalendars draws the months of a calendar, in two zones, with the jobs that refer to it.
func TestCalendars(t *testing.T) {
	w := newWorld(t)
	w.check("/calendars", 200, "There is no calendar yet", "carillon calendar put")
	_, _, err := w.client.PutCalendar(t.Context(), client.CalendarRequest{
		Name: "holidays", Exclude: []string{"2026-12-24/2026-12-26", "2027-01-01T00:00:00Z/2027-01-02T00:00:00Z", "* 12-13 9 2 *"}, Description: "Days off.",
	})
	if err != nil {
		t.Fatal(err)
	}
	w.put(client.Job{Name: "user", Schedule: "@daily", Exclude: []string{"@calendar holidays", "2030-01-01"}, Timezone: "Asia/Tokyo"})
	w.put(client.Job{Name: "other", Schedule: "@daily"})
	w.check("/calendars", 200, `data-calendar="holidays"`, "Days off.")
	w.check("/calendar?name=holidays&month=2026-12", 200, "December 2026", "February 2027", `id="users"`, `href="/job?name=user"`, "2026-12-24/2026-12-26", "month=2026-09", "month=2027-03")
	page := w.get("/calendar?name=holidays&month=2026-12").body
	if out, part := strings.Join(daysOf(page, "out"), " "), strings.Join(daysOf(page, "part"), " "); out != "24 25 26 1" || part != "9" {
		t.Errorf("out are %q, in part %q", out, part)
	}
	if strings.Contains(page, `href="/job?name=other"`) {
		t.Error("a job that does not refer to the calendar is among those that do")
	}
	page = w.get("/calendar?name=holidays&month=2026-12&zone=Asia%2FTokyo").body
	if out, part := strings.Join(daysOf(page, "out"), " "), strings.Join(daysOf(page, "part"), " "); out != "24 25 26" || part != "1 2 9" {
		t.Errorf("in Tokyo out are %q, in part %q", out, part)
	}
	w.check("/job?name=user", 200, `id="job-calendars"`, `href="/calendar?name=holidays&amp;zone=Asia%2FTokyo"`)
	w.check("/calendar?name=holidays&zone=Mars%2FBase", 422, `role="alert"`, "2026-12-24/2026-12-26")
	w.check("/calendar?name=holidays&month=soon", 422, `role="alert"`, "is no month")
	w.check("/calendar?name=unknown", 404, `role="alert"`)
	// Days that a clock change makes shorter or longer are whole days.
	page = w.get("/calendar?name=holidays&month=2027-03&zone=Europe%2FBerlin").body
	if part := daysOf(page, "part"); len(part) != 0 || len(daysOf(page, "out")) != 0 {
		t.Errorf("in spring %q are out in part", part)
	}
}

// TestSkippedDay: zones have skipped whole days; a month with one is drawn, with all its days.
func TestSkippedDay(t *testing.T) {
	w := newWorld(t)
	if _, _, err := w.client.PutCalendar(t.Context(), client.CalendarRequest{Name: "holidays", Exclude: []string{"2011-12-25"}}); err != nil {
		t.Fatal(err)
	}
	for _, month := range []string{"zone=Pacific%2FApia&month=2011-12", "zone=Pacific%2FKwajalein&month=1993-08", "zone=Pacific%2FKiritimati&month=1994-12", "zone=America%2FHavana&month=2026-03"} {
		page := w.get("/calendar?name=holidays&" + month)
		if page.status != 200 || !strings.Contains(page.body, ">31<") || strings.Count(page.body, "</table>") != 3 {
			t.Errorf("%s: %d", month, page.status)
		}
	}
}
