package plot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// The measures of the picture, in pixels of its coordinate system; it may be shown at any size.
const (
	width, height = 760, 440

	marginLeft   = 72
	marginRight  = 28
	marginBottom = 58
	marginTop    = 46
	titleY       = 28

	legendRow    = 20 // height of a row of the legend
	legendSwatch = 26
	legendGap    = 18
	// SVG has no means to measure a text, so the legend is laid out by this estimate.
	legendChar = 6.6 // average width of a character

	tickGap     = 8 // distance from the frame to the labels
	markerSize  = 3
	markersMost = 40 // a line with more points is drawn without markers
)

// colours are distinguishable for nearly all readers, also by brightness. Most of them are from the palette of Okabe
// and Ito, which readers with defective colour vision can distinguish.
var colours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#555555", "#e69f00"}

const (
	textColour = "#222222"
	gridColour = "#d9d9d9"
	lessColour = "#f0f0f0"
)

// picture is a chart whose layout is computed. It is used once. The legend is laid out first, since its rows decide
// where the frame begins.
type picture struct {
	chart Chart
	// y runs from the bottom up, in pixels that grow downwards.
	x, y scale
	top  float64 // y of the frame's upper edge, below the legend
	// legend has only series with a name.
	legend []entry
	out    bytes.Buffer
}

// entry is a line of the legend. x and y are the upper left corner of its place.
type entry struct {
	series int
	x, y   float64
}

// newPicture computes the layout of a chart that has been validated.
func newPicture(c Chart) *picture {
	p := &picture{chart: c}
	rows := p.layLegend()
	p.top = marginTop + float64(rows*legendRow)
	xLow, xHigh, yLow, yHigh := c.extent()
	p.x = newScale(c.X, xLow, xHigh, marginLeft, width-marginRight)
	p.y = newScale(c.Y, yLow, yHigh, height-marginBottom, p.top)
	return p
}

// extent returns the ranges of all values, including the bands.
func (c *Chart) extent() (xLow, xHigh, yLow, yHigh float64) {
	xLow, yLow, xHigh, yHigh = math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			low, high := p.band()
			xLow, xHigh = min(xLow, p.X), max(xHigh, p.X)
			yLow, yHigh = min(yLow, low), max(yHigh, high)
		}
	}
	return xLow, xHigh, yLow, yHigh
}

// layLegend places the names side by side in as many rows as necessary, and returns the number of rows.
func (p *picture) layLegend() (rows int) {
	x := float64(marginLeft)
	for i, s := range p.chart.Series {
		if s.Name == "" {
			continue
		}
		wide := legendSwatch + legendChar*float64(len([]rune(s.Name))) + legendGap
		if rows == 0 || x+wide > width-marginRight+legendGap {
			rows, x = rows+1, marginLeft
		}
		p.legend = append(p.legend, entry{i, x, marginTop + (float64(rows)-1)*legendRow})
		x += wide
	}
	return rows
}

// draw returns the SVG document.
func (p *picture) draw() []byte {
	p.tag(`<svg xmlns="http://www.w3.org/2000/svg" version="1.1" viewBox="0 0 %d %d" width="%d" height="%d"`+
		` role="img" font-family="system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif" font-size="12" fill="%s">`,
		width, height, width, height, textColour)
	p.tag(`<title>%s</title>`, escape(p.chart.Title))
	p.tag(`<rect width="%d" height="%d" rx="6" fill="#ffffff"/>`, width, height)
	p.drawX()
	p.drawY()
	for i := range p.chart.Series {
		p.drawBand(i)
	}
	for i := range p.chart.Series {
		p.drawLine(i)
	}
	p.drawTexts()
	p.tag(`</svg>`)
	return p.out.Bytes()
}

// tag writes a line of the document.
func (p *picture) tag(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

// drawX draws the grid lines and labels of the horizontal axis.
func (p *picture) drawX() {
	bottom := p.y.from
	for _, t := range p.x.ticks() {
		x := number(p.x.pixel(t.value))
		p.tag(`<path d="M%s %sV%s" stroke="%s"/>`, x, number(p.top), number(bottom), gridOf(t))
		if t.label != "" {
			p.tag(`<text x="%s" y="%s" text-anchor="middle">%s</text>`, x, number(bottom+tickGap+12), t.label)
		}
	}
}

// drawY draws the grid lines and labels of the vertical axis.
func (p *picture) drawY() {
	for _, t := range p.y.ticks() {
		y := p.y.pixel(t.value)
		p.tag(`<path d="M%s %sH%s" stroke="%s"/>`, number(p.x.from), number(y), number(p.x.to), gridOf(t))
		if t.label != "" {
			p.tag(`<text x="%s" y="%s" text-anchor="end">%s</text>`, number(p.x.from-tickGap), number(y+4), t.label)
		}
	}
}

// gridOf returns the colour of a grid line: a minor one is paler.
func gridOf(t tick) string {
	if t.label == "" {
		return lessColour
	}
	return gridColour
}

// drawBand fills the area between the lowest and the highest values of a series: a path along the
// highest values and back along the lowest.
func (p *picture) drawBand(series int) {
	points := p.chart.Series[series].Points
	places := make([]string, 2*len(points))
	banded := false
	for i, point := range points {
		low, high := point.band()
		places[i] = p.place(point.X, high)
		places[len(places)-1-i] = p.place(point.X, low)
		banded = banded || point.banded()
	}
	if banded {
		p.tag(`<polygon points="%s" fill="%s" fill-opacity="0.16"/>`, strings.Join(places, " "), colour(series))
	}
}

// drawLine draws a series through the middle of its points.
func (p *picture) drawLine(series int) {
	points := p.chart.Series[series].Points
	places := make([]string, len(points))
	for i, point := range points {
		places[i] = p.place(point.X, point.Mid)
	}
	p.tag(`<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-linejoin="round"/>`,
		strings.Join(places, " "), colour(series))
	if len(points) > markersMost {
		return
	}
	for _, point := range points {
		p.tag(`<circle cx="%s" cy="%s" r="%d" fill="%s"/>`,
			number(p.x.pixel(point.X)), number(p.y.pixel(point.Mid)), markerSize, colour(series))
	}
}

// drawTexts writes the title, the labels of the axes, and the legend.
func (p *picture) drawTexts() {
	const middleX = (marginLeft + width - marginRight) / 2
	const labelX, labelY = 20, height - 14
	middleY := number((p.y.from + p.y.to) / 2)
	p.tag(`<text x="%d" y="%d" font-size="16" font-weight="600">%s</text>`, marginLeft, titleY, escape(p.chart.Title))
	p.tag(`<text x="%d" y="%d" text-anchor="middle">%s</text>`, middleX, labelY, escape(p.chart.X.Label))
	p.tag(`<text x="%d" y="%s" text-anchor="middle" transform="rotate(-90 %d %s)">%s</text>`,
		labelX, middleY, labelX, middleY, escape(p.chart.Y.Label))
	for _, e := range p.legend {
		p.tag(`<path d="M%s %sh%d" stroke="%s" stroke-width="3" stroke-linecap="round"/>`,
			number(e.x+1), number(e.y+4), legendSwatch-9, colour(e.series))
		p.tag(`<text x="%s" y="%s">%s</text>`, number(e.x+legendSwatch), number(e.y+8), escape(p.chart.Series[e.series].Name))
	}
}

// place returns a point of the chart in the notation of SVG's point lists.
func (p *picture) place(x, y float64) string {
	return number(p.x.pixel(x)) + "," + number(p.y.pixel(y))
}

// colour returns the colour of the n-th series, from 0; after eight they repeat.
func colour(series int) string { return colours[series%len(colours)] }

// number returns a length rounded to a tenth of a pixel, without a negative zero. More digits would make the document
// longer and no picture better; without the rule for zero, two machines could differ.
func number(v float64) string {
	text := fmt.Sprintf("%.1f", v)
	text = strings.TrimSuffix(text, ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

// escape makes a text safe inside an element. Labels come from flags and names, which may contain any character.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // writing to a Builder cannot fail
	return b.String()
}
