package bench

import (
	"bytes"
	"fmt"
	"os"

	"github.com/carillon-io/carillon/bench/plot"
)

// scalePercentiles are the percentiles that scale draws as lines.
var scalePercentiles = []struct {
	name    string
	per100k int
}{{"p50", 50_000}, {"p99", 99_000}, {"p99.9", 99_900}, {"max", 100_000}}

// newScaleChart returns a chart with one line for each percentile. Both axes are logarithmic, because both jobs and
// lateness range over several powers of ten.
func newScaleChart(rate int) plot.Chart {
	c := plot.Chart{
		Title: fmt.Sprintf("Lateness at %d runs a second", rate),
		X:     plot.Axis{Label: "jobs armed", Log: true}, Y: plot.Axis{Label: "ms after the scheduled time", Log: true},
	}
	for _, p := range scalePercentiles {
		c.Series = append(c.Series, plot.Series{Name: p.name})
	}
	return c
}

// addToScale adds the samples measured with a number of armed jobs. They must be sorted. A percentile of 0 is left
// out, since a logarithmic axis has no place for it.
func addToScale(c *plot.Chart, armed int, s samples) {
	for i, p := range scalePercentiles {
		if late := millis(s.at(p.per100k)); late > 0 && armed > 0 {
			c.Series[i].Points = append(c.Series[i].Points, plot.Point{X: float64(armed), Mid: late})
		}
	}
}

// drawInto writes a chart to a file as SVG. It overwrites the file.
func drawInto(path string, c plot.Chart) error {
	var b bytes.Buffer
	if err := plot.Lines(&b, c); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
