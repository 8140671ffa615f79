package dashboard

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/daybook"
	"github.com/carillon-io/carillon/testkit"
)

// memoryBook keeps minutes in memory, and fails if it should.
type memoryBook struct {
	minutes []daybook.Minute
	err     error
}

func (b *memoryBook) Put(m daybook.Minute) error {
	b.minutes = append(b.minutes, m)
	return b.err
}

func (b *memoryBook) Since(_, _ time.Time) []daybook.Minute { return b.minutes }

// TestDayKeeper: each minute is written once, with what happened in it. What a new leadership has not counted is no
// difference, and the end of the process loses nothing.
func TestDayKeeper(t *testing.T) {
	var book memoryBook
	k := dayKeeper{book: &book, logger: slog.New(slog.DiscardHandler)}
	k.flush() // nothing has come yet
	for i := range 13 {
		k.add(start.Add(time.Duration(i)*sampleEvery), after(uint64(10*i), 3*time.Millisecond))
	}
	k.add(start.Add(125*time.Second), after(4, 80*time.Millisecond)) // a new leadership
	k.add(start.Add(135*time.Second), after(9, 80*time.Millisecond))
	k.flush()
	fired := map[time.Time]uint64{}
	for _, m := range book.minutes {
		fired[m.At] += m.Fired
		if m.Launched != m.Fired || m.Launched > 0 && (m.P99 < m.P50 || m.P99 > 80*time.Millisecond || m.Max < m.P99) {
			t.Errorf("a minute is %+v", m)
		}
	}
	for i, want := range []uint64{60, 60, 5} {
		if got := fired[start.Add(time.Duration(i)*time.Minute)]; got != want {
			t.Errorf("minute %d fired %d, want %d: %+v", i, got, want, book.minutes)
		}
	}
	var log testkit.Buffer
	k = dayKeeper{book: &memoryBook{err: errors.New("no space left")}, logger: slog.New(slog.NewTextHandler(&log, nil))}
	k.add(start, after(1, time.Millisecond))
	k.flush()
	if !strings.Contains(log.String(), "no space left") {
		t.Errorf("the log has %q", log.String())
	}
}

// TestDayChart draws a day in which the server stood still for an hour and was late once.
func TestDayChart(t *testing.T) {
	now := start.Add(2 * time.Minute)
	var minutes []daybook.Minute
	for i := range 600 {
		at := now.Truncate(time.Minute).Add(time.Duration(i-599) * time.Minute)
		if i >= 300 && i < 360 {
			continue // it did not run
		}
		m := daybook.Minute{At: at, Fired: 60, Launched: 60, P50: time.Millisecond, P99: 2 * time.Millisecond}
		if i == 200 {
			m.P99 = 7 * time.Second
		}
		minutes = append(minutes, m)
	}
	c := drawDay(minutes, now, utc)
	if len(c.P50) != 2 || len(c.P99) != 2 {
		t.Errorf("%d and %d lines; want one before the standstill and one after it", len(c.P50), len(c.P99))
	}
	if n := len(c.Down); n < 11 || n > 12 {
		t.Errorf("%d columns are without the server, want 11 or 12", n)
	}
	for _, b := range append(append([]rectBar(nil), c.Bars...), c.Down...) {
		if b.X < 0 || b.X+b.Width > chartWidth+0.2 || b.Y < 0 || b.Y+b.Height > chartHeight+0.1 {
			t.Errorf("the bar %+v leaves the chart", b)
		}
	}
	if c.Marks[0].Label != "10 s" || c.Most != "1.0" {
		t.Errorf("the scales end at %s and %s", c.Marks[0].Label, c.Most)
	}
	for _, says := range []string{"Runs fired: 32,400.", "from 05:20 UTC", "7.00 s late", "did not run for about"} {
		if !strings.Contains(c.About, says) {
			t.Errorf("the words are %q; want %q", c.About, says)
		}
	}
	if again := drawDay(minutes, now.Add(time.Minute), utc); again.P99[0] != c.P99[0] {
		t.Error("the drawing moves within five minutes though nothing has come")
	}
	if drawDay(nil, now, utc) != nil {
		t.Error("there is a chart of no minutes")
	}
}
