// Package plot writes line charts as SVG, for the figures in documents.
//
// A chart has a horizontal and a vertical axis, each linear or logarithmic, and a few series. A series
// is a line through its points with a band around it, from the lowest to the highest value measured at
// each point. The picture is plain SVG 1.1 without scripts, style sheets or external fonts. It has a
// white background of its own, so that it is legible on a light page and on a dark one. The same chart
// always gives the same bytes.
//
// plot.go has the chart and its rules, scale.go the mapping of values to pixels, and picture.go the drawing. A library
// would bring fonts, formats and dependencies for what are a few hundred lines here, and other bytes with each
// release.
package plot

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// ErrEmpty is returned by Lines for a chart in which no series has a point.
var ErrEmpty = errors.New("plot: nothing to draw")

// Chart is the input of Lines. The zero value has no points, so Lines returns ErrEmpty for it. Lines does not change
// it.
type Chart struct {
	Title  string
	X, Y   Axis
	Series []Series // drawn and listed in this order; colours repeat after eight
}

// Axis describes an axis. Its range is computed from the points.
type Axis struct {
	Label string // with the unit
	// so that values over several powers of ten are legible
	Log bool // logarithmic: every value must be above 0
}

// Series is one line. A series without a name is not listed in the legend.
type Series struct {
	Name   string
	Points []Point // in the order in which the line joins them
}

// Point is one point of a line. Low and High are the ends of the band, with Low <= Mid <= High; if both
// are 0, the point has no band.
type Point struct {
	// Points of a series should ascend by X; a line that goes back is drawn all the same.
	X, Low, Mid, High float64
}

// banded reports whether the point has a band. So a band from 0 to 0 cannot be drawn; durations never have one.
func (p Point) banded() bool { return p.Low != 0 || p.High != 0 }

// band returns the vertical extent of the point: its band, or Mid twice if it has none.
func (p Point) band() (low, high float64) {
	if p.banded() {
		return p.Low, p.High
	}
	return p.Mid, p.Mid
}

// Lines writes the chart as one SVG document. It returns an error, and writes nothing, if the chart has no points, if
// a value is infinite, not a number, or not above 0 on a logarithmic axis, or if a point is outside its own band. It
// validates everything first, because half a picture in a document is worse than none. The picture is built in memory.
func Lines(w io.Writer, chart Chart) error {
	if err := chart.validate(); err != nil {
		return err
	}
	if _, err := w.Write(newPicture(chart).draw()); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// validate refuses a chart that has no points, or one that cannot be drawn.
func (c *Chart) validate() error {
	points := 0
	for _, s := range c.Series {
		points += len(s.Points)
		for i, p := range s.Points {
			if err := c.validatePoint(p); err != nil {
				return fmt.Errorf("plot: series %q: point %d: %w", s.Name, i, err)
			}
		}
	}
	if points == 0 {
		return ErrEmpty
	}
	return nil
}

// validatePoint checks the values of a point against the axes, and its middle against its band.
func (c *Chart) validatePoint(p Point) error {
	low, high := p.band()
	if err := c.X.validate(p.X); err != nil {
		return fmt.Errorf("x: %w", err)
	}
	for _, v := range []float64{low, p.Mid, high} {
		if err := c.Y.validate(v); err != nil {
			return fmt.Errorf("y: %w", err)
		}
	}
	if p.Mid < low || p.Mid > high {
		return fmt.Errorf("y: %v is not in its band from %v to %v", p.Mid, low, high)
	}
	return nil
}

// validate refuses values that have no place on the axis.
func (a *Axis) validate(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%v cannot be drawn; want a finite number", v)
	}
	if a.Log && v <= 0 {
		return fmt.Errorf("%v on a logarithmic axis", v)
	}
	return nil
}
