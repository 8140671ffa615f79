package dashboard

import (
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/histogram"
	"github.com/carillon-io/carillon/scheduler"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// after returns a status with so many fired, each launched that late.
func after(fired uint64, late time.Duration) scheduler.Status {
	var times histogram.Times
	for range fired {
		times.Record(late)
	}
	return scheduler.Status{Fired: fired, Lateness: latenessOf(&times)}
}

func latenessOf(times *histogram.Times) scheduler.Lateness {
	r := times.Read()
	return scheduler.Lateness{Count: r.Count, Max: histogram.Duration(r.Max), Spread: r}
}

// TestRecorderKeepsAnHour takes samples for longer than an hour: the newest are kept, in order, and no more.
func TestRecorderKeepsAnHour(t *testing.T) {
	var r recorder
	for i := range samplesMax + 100 {
		r.add(start.Add(time.Duration(i)*sampleEvery), after(uint64(i*20), 3*time.Millisecond))
	}
	got := r.samples()
	if len(got) != samplesMax {
		t.Fatalf("%d samples, want %d", len(got), samplesMax)
	}
	for i, s := range got {
		if want := start.Add(time.Duration(100+i) * sampleEvery); !s.at.Equal(want) || s.fired != 20 || s.launched != 20 || s.perSecond() != 2 {
			t.Fatalf("sample %d is %+v, want 20 at %s", i, s, want)
		}
		if s.p50 < 2500*time.Microsecond || s.p99 > 3*time.Millisecond {
			t.Fatalf("sample %d: p50 %s, p99 %s; want about 3 ms", i, s.p50, s.p99)
		}
	}
	now := start.Add((samplesMax + 99) * sampleEvery).Add(5 * time.Second)
	if got := r.rate(now, (samplesMax+99)*20+10); got != 2 {
		t.Errorf("%g a second, want 2", got)
	}
}

// TestRecorderStartsAnew: counts that fall are those of a new reign, and never a huge sample.
func TestRecorderStartsAnew(t *testing.T) {
	var r recorder
	if got := r.rate(start, 100); got != 0 || len(r.samples()) != 0 {
		t.Errorf("an empty recorder: %g a second", got)
	}
	r.add(start, after(1000, time.Millisecond))
	r.add(start.Add(10*time.Second), after(5, time.Millisecond))
	r.add(start.Add(20*time.Second), after(15, time.Millisecond))
	if got := r.samples(); len(got) != 1 || got[0].fired != 10 {
		t.Errorf("the samples are %+v", got)
	}
	if got := r.rate(start.Add(21*time.Second), 3); got != 0 {
		t.Errorf("%g a second from a count that fell", got)
	}
}

// TestQuantile reads quantiles of what happened between two states of a distribution.
func TestQuantile(t *testing.T) {
	var times histogram.Times
	for range 100 {
		times.Record(0)
	}
	before := latenessOf(&times)
	for late, n := range map[time.Duration]int{8 * time.Millisecond: 90, 80 * time.Millisecond: 9, time.Hour: 1} {
		for range n {
			times.Record(late)
		}
	}
	now := latenessOf(&times)
	s := since(&before, &now)
	for _, c := range []struct {
		q         float64
		low, high time.Duration
	}{{0.5, 5 * time.Millisecond, 10 * time.Millisecond}, {0.95, 50 * time.Millisecond, 100 * time.Millisecond}, {1, time.Hour, time.Hour}} {
		if got := s.quantile(c.q); got < c.low || got > c.high {
			t.Errorf("quantile %g is %s, want %s to %s", c.q, got, c.low, c.high)
		}
	}
	if none := since(&now, &now); none.quantile(0.99) != 0 {
		t.Error("a quantile of nothing")
	}
}

// TestDrawHour draws an hour with a gap in it: each line has two parts, within the chart.
func TestDrawHour(t *testing.T) {
	samples := []sample{
		{at: start, took: sampleEvery, fired: 10, launched: 10, p50: time.Millisecond, p99: 2 * time.Minute},
		{at: start.Add(10 * time.Second), took: sampleEvery},
		{at: start.Add(20 * time.Second), took: sampleEvery, fired: 20, launched: 20, p50: 0, p99: time.Millisecond},
		{at: start.Add(30 * time.Second), took: sampleEvery, fired: 20, launched: 20, p50: time.Millisecond, p99: time.Millisecond},
	}
	c := drawHour(samples, start.Add(time.Minute))
	if c.Minutes != 5 || c.Half() != 2.5 {
		t.Errorf("a minute is drawn over %g", c.Minutes)
	}
	if len(c.P50) != 2 || len(c.P99) != 2 || len(c.Bars) != 3 || c.Most != "2.0" || c.Empty {
		t.Errorf("drawn as %+v", c)
	}
	if first := c.Marks[0]; first.Y != 0 || !strings.Contains(c.About, "2 m 0 s") {
		t.Errorf("the largest mark is %+v, in words %q", first, c.About)
	}
	for _, b := range c.Bars {
		if b.Y < 0 || b.Y+b.Height > chartHeight+0.1 || b.X < 0 || b.X > chartWidth {
			t.Errorf("the bar %+v is outside", b)
		}
	}
	if old := drawHour(samples, start.Add(2*time.Hour)); len(old.Bars) != 0 || len(old.P50) != 0 {
		t.Errorf("what is older than an hour is drawn: %+v", old)
	}
	if empty := drawHour(nil, start); !empty.Empty {
		t.Error("a chart of nothing is not empty")
	}
}

// TestLevels lists a distribution without the empty rows at its ends.
func TestLevels(t *testing.T) {
	st := after(10, 2*time.Millisecond)
	if got := levels(&st.Lateness); len(got) != 1 || got[0].Label != "≤ 2.5 ms" || got[0].Count != 10 || got[0].Width != 100 {
		t.Errorf("levels %+v", got)
	}
	st = after(3, time.Hour)
	if got := levels(&st.Lateness); len(got) != 1 || got[0].Label != "more" {
		t.Errorf("levels beyond all bounds %+v", got)
	}
	if got := levels(&scheduler.Lateness{}); got != nil {
		t.Errorf("levels of nothing %+v", got)
	}
}

// TestFormats writes what pages write.
func TestFormats(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{relative(500 * time.Millisecond), "now"}, {relative(3 * time.Minute), "in 3 m 0 s"}, {relative(-2 * time.Hour), "2 h 0 m ago"},
		{relative(-90 * 24 * time.Hour), "90 d ago"}, {relative(50 * time.Hour), "in 2 d 2 h"}, {span(59 * time.Minute), "59 m"},
		{span(3000 * 24 * time.Hour), "8 years"},
		{millis(0), "0 ms"}, {millis(0.314), "0.31 ms"}, {millis(12.4), "12 ms"}, {millis(1500), "1.50 s"}, {millis(90_000), "1 m 30 s"},
		{figure(1234567), "1,234,567"}, {figure(uint64(999)), "999"}, {figure("x"), "x"}, {rate(0), "0"}, {rate(2.25), "2.2"}, {rate(1234.4), "1,234"},
		{shownText("a\u202eb\x1b\n"), "a[U+202E]b␛\n"}, {shownText("plain ä"), "plain ä"},
		{pretty([]byte(`{"a":1}`)), "{\n  \"a\": 1\n}"}, {pretty([]byte("{")), "{"},
		{clip(strings.Repeat("ä", 200)), strings.Repeat("ä", 60) + "…"},
		{instantOf(client.Time{}, utc, start).Exact, ""}, {instantOf(client.At(start), utc, start).Exact, "2026-11-21 12:00:00 UTC"}, {instantOf(client.At(start.Add(5*time.Millisecond)), utc, start).Exact, "2026-11-21 12:00:00.005 UTC"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
