package dashboard

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/carillon-io/carillon/scheduler"
)

// The size of a chart in the units of its SVG; the page scales it.
const (
	chartWidth  = 720.0
	chartHeight = 120.0
)

// spans are the lengths of time that a chart can show. A chart uses the shortest one that has all samples. The last
// one is what the recorder keeps. A chart of a fixed hour would be empty for most of the first hour after a start.
var spans = []time.Duration{5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}

// spanFor returns how far back a chart of these samples goes. Samples are in the order of time, so the first is the
// oldest.
func spanFor(samples []sample, now time.Time) time.Duration {
	for _, span := range spans {
		if len(samples) == 0 || now.Sub(samples[0].at) < span {
			return span
		}
	}
	return spans[len(spans)-1]
}

// chart is the drawing of at most the last hour of samples. It has coordinates and no markup, so that the template
// alone decides how it looks. Empty means that there is no sample yet.
type chart struct {
	P50, P99 []string  // each element is the points of one polyline; a gap without runs begins a new one
	Marks    []mark    // grid lines of the lateness axis, the largest first
	Bars     []rectBar // runs fired in each sample
	Most     string    // label of the largest bar, in runs per second
	About    string    // the chart in words, for readers who do not see it
	Minutes  float64   // how far back it goes
	Empty    bool
}

// Half returns half the time that a chart shows, in minutes.
func (c *chart) Half() float64 { return c.Minutes / 2 }

// mark is a grid line with its label. Y is the distance from the top, as everything in an SVG.
type mark struct {
	Label string
	Y     float64
}

// rectBar is a bar that stands on the time axis. X and Y are its upper left corner.
type rectBar struct{ X, Y, Width, Height float64 }

// scale is a logarithmic axis: the exponents of ten, in milliseconds, of its lower and its upper end. It is
// logarithmic because lateness ranges from fractions of a millisecond to minutes, and both ends matter.
//
// Invariant: low < high.
type scale struct{ low, high int }

// scaleFor returns an axis from a tenth of a millisecond up to a duration. It goes up to ten milliseconds at least, so that
// a quiet hour does not look like a bad one.
func scaleFor(most time.Duration) scale {
	most = max(most, 10*time.Millisecond)
	return scale{low: -1, high: int(math.Ceil(math.Log10(toMillis(most))))}
}

// worst returns the largest p99 of samples.
func worst(samples []sample) (most time.Duration) {
	for i := range samples {
		most = max(most, samples[i].p99)
	}
	return most
}

// toMillis returns a duration in milliseconds, with fractions.
func toMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// y returns the y coordinate of a duration. A duration below the lower end is drawn at the lower end. Zero has no
// logarithm, so it is drawn as a microsecond is.
func (s scale) y(d time.Duration) float64 {
	place := (math.Log10(max(toMillis(d), 0.001)) - float64(s.low)) / float64(s.high-s.low)
	return round(chartHeight * (1 - min(max(place, 0), 1)))
}

// marks returns a grid line for each power of ten. There are at least three, from ten milliseconds down to a tenth
// of one.
func (s scale) marks() []mark {
	var list []mark
	for power := s.high; power >= s.low; power-- {
		d := time.Duration(math.Pow10(power) * float64(time.Millisecond))
		list = append(list, mark{boundText(d), s.y(d)})
	}
	return list
}

// round rounds a coordinate to a tenth of a unit, which keeps the SVG small and hides no difference that is visible.
func round(f float64) float64 { return math.Round(f*10) / 10 }

// drawHour draws samples by their time, with now at the right edge. Samples without launches interrupt the lines: a
// line across them would show a lateness that did not occur.
func drawHour(samples []sample, now time.Time) chart {
	s, span := scaleFor(worst(samples)), spanFor(samples, now)
	c := chart{Marks: s.marks(), Empty: len(samples) == 0, Minutes: span.Minutes()}
	width := round(0.9 * chartWidth * float64(sampleEvery) / float64(span))
	var p50, p99 line
	var most float64
	for i := range samples {
		if perSecond := samples[i].perSecond(); perSecond > most {
			most = perSecond
		}
	}
	for i := range samples {
		one := &samples[i]
		x := round(chartWidth * (1 - now.Sub(one.at).Seconds()/span.Seconds()))
		// A sample may be older than the span by less than an interval.
		if x < 0 {
			continue
		}
		if one.launched > 0 {
			p50.to(x, s.y(one.p50))
			p99.to(x, s.y(one.p99))
		} else {
			p50.lift()
			p99.lift()
		}
		if one.fired > 0 {
			// A single run beside a herd is still visible.
			height := max(1, round(chartHeight*one.perSecond()/most))
			c.Bars = append(c.Bars, rectBar{X: max(0, x-width), Y: round(chartHeight - height), Width: width, Height: height})
		}
	}
	c.P50, c.P99 = p50.done(), p99.done()
	c.Most = rate(most)
	c.About = about(samples, most)
	return c
}

// perSecond returns the runs fired per second in the sample; 0 for an empty interval.
func (s *sample) perSecond() float64 {
	if s.took <= 0 {
		return 0
	}
	return float64(s.fired) / s.took.Seconds()
}

// about describes the chart in words. It says the two numbers for which a reader would look at the chart.
func about(samples []sample, most float64) string {
	return fmt.Sprintf("In this time at most %s runs per second fired, and in each ten seconds 99 %% of the runs were at most %s late.", rate(most), millis(toMillis(worst(samples))))
}

// line collects points into polylines. A single point becomes a short line, so that it is visible. The zero value is
// empty and ready. points has those of the polyline that is being drawn, lines the finished ones.
type line struct {
	lines  []string
	points []string
}

// to adds a point to the present polyline.
func (l *line) to(x, y float64) { l.points = append(l.points, fmt.Sprintf("%g,%g", x, y)) }

// lift ends the present polyline; the next point begins another.
func (l *line) lift() {
	if len(l.points) == 1 {
		l.points = append(l.points, l.points[0])
	}
	if len(l.points) > 0 {
		l.lines = append(l.lines, strings.Join(l.points, " "))
	}
	l.points = nil
}

// done ends the line and returns its polylines.
func (l *line) done() []string {
	l.lift()
	return l.lines
}

// level is one row of the histogram of lateness. Share and Width differ, because the largest bar fills the row
// whatever its share is.
type level struct {
	Label string
	Count uint64
	Share float64 // share of all runs, in percent
	Width float64 // width of the bar, in percent of the largest
}

// levels returns the rows for the lateness since the start, without the empty rows at both ends. Empty rows in the
// middle stay, because a gap between two groups of launches is worth seeing.
func levels(l *scheduler.Lateness) []level {
	s := since(&scheduler.Lateness{}, l)
	first, last, most := -1, -1, uint64(1)
	for i, n := range s.counts {
		if n == 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		last, most = i, max(most, n)
	}
	if first < 0 {
		return nil
	}
	list := make([]level, 0, last-first+1)
	for i := first; i <= last; i++ {
		one := level{Count: s.counts[i], Share: 100 * float64(s.counts[i]) / float64(max(s.total, 1)), Width: round(100 * float64(s.counts[i]) / float64(most))}
		if one.Label = "more"; i < len(bounds) {
			one.Label = "≤ " + boundText(bounds[i])
		}
		list = append(list, one)
	}
	return list
}

// boundText returns the text of a bound.
func boundText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%g µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%g ms", toMillis(d))
	case d < time.Minute || d%time.Minute != 0:
		return fmt.Sprintf("%g s", d.Seconds())
	default:
		return fmt.Sprintf("%g min", d.Minutes())
	}
}
