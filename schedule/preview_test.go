package schedule

import "testing"

func TestPreviewIsBounded(t *testing.T) {
	for _, expr := range []string{"*/5 * * * *", "* * * * * *", "0 0 29 2 *", "*/30 2 8 3 *", "0 */12 29 2 *", "@every 1s", "30 1,2 * * *"} {
		for _, zone := range []string{"", "America/New_York"} {
			s := mustSchedule(t, expr, zone)
			for _, n := range []int{-1, 0} {
				if times, notes, _ := s.Preview(t.Context(), 0, 0, n); len(times)+len(notes) != 0 {
					t.Errorf("%s: Preview of %d gives %d ticks and %d notes", expr, n, len(times), len(notes))
				}
			}
			times, notes, _ := s.Preview(t.Context(), benchAt, 0, 1<<40)
			if len(times) != PreviewMax || len(notes) > PreviewMax {
				t.Errorf("%s: Preview gives %d ticks and %d notes", expr, len(times), len(notes))
			}
		}
	}
}

// TestPreviewNotesOnlyWhatItLists asks for ticks before and after a change that concerns the schedule.
func TestPreviewNotesOnlyWhatItLists(t *testing.T) {
	for _, c := range []struct {
		expr, after string
		notes       int
	}{
		{"30 2 * * *", "2026-03-01T00:00:00Z", 0},
		{"30 2 * * *", "2026-03-08T06:00:00Z", 1},
		{"30 2 * * *", "2026-03-08T07:00:00Z", 0},
		{"30 1 * * *", "2026-11-01T05:29:00Z", 1},
		{"30 1 * * *", "2026-11-01T05:30:00Z", 0},
		{"30 * * * *", "2026-11-01T05:29:00Z", 1},
		{"30 * * * *", "2026-11-01T06:29:00Z", 1}, // the second time is listed
		{"30 * * * *", "2026-11-01T06:30:00Z", 0},
		{"*/30 2 8 3 *", "2026-01-01T00:00:00Z", 1}, // dropped altogether, a year without it
	} {
		_, notes, _ := mustSchedule(t, c.expr, "America/New_York").Preview(t.Context(), rfc3339(t, c.after), 0, 2)
		if len(notes) != c.notes {
			t.Errorf("%s after %s: notes %q, want %d", c.expr, c.after, notes, c.notes)
		}
	}
}
