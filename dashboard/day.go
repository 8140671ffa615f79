package dashboard

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-io/carillon/daybook"
	"github.com/carillon-io/carillon/scheduler"
)

// Daybook keeps minutes over restarts. [daybook.Book] implements it. Its methods are safe for concurrent use.
type Daybook interface {
	// Put records a minute; a second part of the same minute is joined to the first.
	Put(daybook.Minute) error
	// Since returns the minutes from an instant until now, the oldest first.
	Since(from, now time.Time) []daybook.Minute
}

// noDaybook keeps nothing.
type noDaybook struct{}

func (noDaybook) Put(daybook.Minute) error              { return nil }
func (noDaybook) Since(_, _ time.Time) []daybook.Minute { return nil }

// dayKeeper writes what happened in each minute into a daybook. It belongs to the goroutine that records. The readings come
// every sampleEvery, so a minute begins and ends late by at most as much.
type dayKeeper struct {
	book   Daybook
	logger *slog.Logger
	minute time.Time // the minute in progress
	begin  reading   // the counts at its beginning
	newest reading
}

// add accepts a reading of the counts. When its minute is another one, the minute before is written.
func (k *dayKeeper) add(now time.Time, status scheduler.Status) {
	next := reading{now, status.Fired, status.Lateness}
	switch minute := now.Truncate(time.Minute); {
	// Counts that fall are those of a new leadership: what was counted before is written, and they count from here.
	case k.begin.at.IsZero(), next.fired < k.newest.fired, next.lateness.Count < k.newest.lateness.Count:
		k.flush()
		k.minute, k.begin = minute, next
	case !minute.Equal(k.minute):
		k.newest = next
		k.flush()
		k.minute, k.begin = minute, next
	}
	k.newest = next
}

// flush writes the minute in progress, as far as it is known. An error is logged and the minute is lost.
func (k *dayKeeper) flush() {
	if k.begin.at.IsZero() {
		return
	}
	late := since(&k.begin.lateness, &k.newest.lateness)
	err := k.book.Put(daybook.Minute{
		At: k.minute, Fired: k.newest.fired - k.begin.fired, Launched: late.total,
		P50: late.quantile(0.5), P99: late.quantile(0.99), Max: late.quantile(1),
	})
	if err != nil {
		k.logger.Warn("a minute is not in the daybook", slog.Any("error", err))
	}
	k.begin = k.newest
}

// A chart of a day has a column for each five minutes.
const (
	dayColumn  = 5 * time.Minute
	dayColumns = int(24 * time.Hour / dayColumn)
)

// dayChart is the drawing of the lateness of the last 24 hours. As with [chart], it has coordinates and no markup.
type dayChart struct {
	P50, P99 []string
	Marks    []mark
	Bars     []rectBar // runs fired
	Down     []rectBar // no minute was recorded: the server did not run
	Most     string    // label of the largest bar, in runs per second
	About    string
}

// dayPart is what the minutes of a column have in common; of lateness it has the worst minute.
type dayPart struct {
	minutes  int
	fired    uint64
	launched uint64
	p50, p99 time.Duration
}

// dayStart returns when the first column begins: on a round time, so that the drawing changes once in five minutes, and
// not with each second.
func dayStart(now time.Time) time.Time {
	return now.Truncate(dayColumn).Add(dayColumn - 24*time.Hour)
}

// partsOf puts minutes into the columns.
func partsOf(minutes []daybook.Minute, begin time.Time) (parts [dayColumns]dayPart) {
	for _, m := range minutes {
		i := int(m.At.Sub(begin) / dayColumn)
		if i < 0 || i >= dayColumns {
			continue
		}
		p := &parts[i]
		p.minutes++
		p.fired += m.Fired
		p.launched += m.Launched
		p.p50, p.p99 = max(p.p50, m.P50), max(p.p99, m.P99)
	}
	return parts
}

// drawDay draws minutes by their time. It returns nil if there are none: then a server has just been installed.
func drawDay(minutes []daybook.Minute, now time.Time, by clock) *dayChart {
	if len(minutes) == 0 {
		return nil
	}
	begin := dayStart(now)
	parts := partsOf(minutes, begin)
	sum := sumUpDay(&parts, begin)
	s := scaleFor(sum.p99)
	c := &dayChart{Marks: s.marks(), Most: rate(float64(sum.most) / dayColumn.Seconds()), About: sum.text(by)}
	width := chartWidth / float64(dayColumns)
	var p50, p99 line
	for i, p := range parts {
		x := width * float64(i)
		if p.launched > 0 {
			p50.to(round(x+width/2), s.y(p.p50))
			p99.to(round(x+width/2), s.y(p.p99))
		} else {
			p50.lift()
			p99.lift()
		}
		if p.fired > 0 {
			height := max(1, round(chartHeight*float64(p.fired)/float64(sum.most)))
			c.Bars = append(c.Bars, rectBar{X: round(x), Y: round(chartHeight - height), Width: round(width * 0.9), Height: height})
		}
		if sum.isDown(i) {
			c.Down = append(c.Down, rectBar{X: round(x), Width: round(width), Height: chartHeight})
		}
	}
	c.P50, c.P99 = p50.done(), p99.done()
	return c
}

// daySum is what the words about a day need.
type daySum struct {
	parts       *[dayColumns]dayPart
	first       int // the first column with a minute; what was before it is not known
	last        int // the last one
	fired, most uint64
	launched    uint64
	p99         time.Duration
	worst       time.Time // when the column of p99 began
	down        int       // columns
}

func sumUpDay(parts *[dayColumns]dayPart, begin time.Time) daySum {
	sum := daySum{parts: parts, first: -1}
	for i, p := range parts {
		if p.minutes > 0 {
			if sum.last = i; sum.first < 0 {
				sum.first = i
			}
		}
		sum.fired, sum.most, sum.launched = sum.fired+p.fired, max(sum.most, p.fired), sum.launched+p.launched
		if p.p99 > sum.p99 || sum.worst.IsZero() {
			sum.p99, sum.worst = p.p99, begin.Add(time.Duration(i)*dayColumn)
		}
	}
	for i := range parts {
		if sum.isDown(i) {
			sum.down++
		}
	}
	return sum
}

// isDown reports whether no minute of a column was recorded between columns that have some.
func (s *daySum) isDown(i int) bool {
	return s.first >= 0 && i > s.first && i < s.last && s.parts[i].minutes == 0
}

// text describes the day in words.
func (s *daySum) text(by clock) string {
	text := "No run was launched."
	if s.launched > 0 {
		text = fmt.Sprintf("Runs fired: %s. In the worst five minutes, from %s, 99 %% of the launches of a minute were at most %s late.",
			figure(s.fired), s.worst.In(by.loc).Format("15:04 MST"), millis(toMillis(s.p99)))
	}
	if s.down > 0 {
		text += fmt.Sprintf(" The server did not run for about %s.", span(time.Duration(s.down)*dayColumn))
	}
	return text
}
