package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("plot.rewrite", false, "write the golden files instead of comparing with them")

// lateness is what the package is for: percentiles against the number of armed jobs.
func lateness() Chart {
	return Chart{
		Title: "Lateness against armed jobs",
		X:     Axis{Label: "armed jobs", Log: true},
		Y:     Axis{Label: "lateness, ms", Log: true},
		Series: []Series{
			{"p50", []Point{{1e4, 0.21, 0.23, 0.26}, {1e5, 0.2, 0.24, 0.3}, {1e6, 0.22, 0.25, 0.31}, {1e7, 0.24, 0.3, 0.42}}},
			{"p99", []Point{{1e4, 0.6, 0.9, 1.1}, {1e5, 0.7, 0.95, 1.3}, {1e6, 0.8, 1.2, 1.9}, {1e7, 1.0, 1.7, 3.2}}},
			{"max", []Point{{1e4, 2, 3.1, 5}, {1e5, 2.2, 3.3, 6.1}, {1e6, 2.9, 4.4, 8}, {1e7, 3.5, 7.2, 14}}},
		},
	}
}

// distribution is a smooth cumulative distribution without a band: lateness on a logarithmic axis.
func distribution() Chart {
	c := Chart{
		Title: "How late runs start: 1,000/s & <10 M> armed",
		X:     Axis{Label: "lateness, ms", Log: true},
		Y:     Axis{Label: "share of runs that are not later"},
	}
	for i, median := range []float64{0.25, 4, 40} {
		s := Series{Name: fmt.Sprintf("product %c, in its own process", 'A'+i)}
		for x := 0.02; x < 400; x *= 1.1 {
			s.Points = append(s.Points, Point{X: x, Mid: 0.5 + 0.5*math.Erf(math.Log(x/median)/1.2)})
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// linear is the smallest chart with linear axes: one line without a name, below zero as well.
func linear() Chart {
	return Chart{
		Title: "Drift", X: Axis{Label: "hour"}, Y: Axis{Label: "drift, µs"},
		Series: []Series{{Points: []Point{{0, -1, 0, 2}, {6, -14, -8, -3}, {12, 3, 11, 17}, {24, 21, 32, 46}}}},
	}
}

func TestGolden(t *testing.T) {
	for name, chart := range map[string]Chart{"lateness": lateness(), "distribution": distribution(), "linear": linear()} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := Lines(&got, chart); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".svg")
			if *rewrite {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s differs; look at what changes with: go test ./bench/plot -plot.rewrite", path)
			}
		})
	}
}

// Whatever the texts hold, the document is well-formed XML.
func TestWellFormed(t *testing.T) {
	chart := linear()
	chart.Title, chart.Series[0].Name = `</title> & "quotes"`, "a<b \x00"
	var out bytes.Buffer
	if err := Lines(&out, chart); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(&out); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefused(t *testing.T) {
	one := func(p Point) []Series { return []Series{{Name: "line", Points: []Point{p}}} }
	for _, c := range []struct {
		name, want string
		chart      Chart
	}{
		{"no points", "nothing to draw", Chart{Series: []Series{{Name: "line"}}}},
		{"not a number", "cannot be drawn", Chart{Series: one(Point{X: math.NaN(), Mid: 1})}},
		{"infinite", "cannot be drawn", Chart{Series: one(Point{X: 1, Low: 1, Mid: 2, High: math.Inf(1)})}},
		{"zero on a logarithm", `series "line": point 0: x: 0 on`, Chart{X: Axis{Log: true}, Series: one(Point{X: 0, Mid: 1})}},
		{"band from below zero on a logarithm", "y: -1 on", Chart{Y: Axis{Log: true}, Series: one(Point{X: 1, Low: -1, Mid: 1, High: 2})}},
		{"outside its band", "not in its band", Chart{Series: one(Point{X: 1, Low: 3, Mid: 2, High: 4})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			err := Lines(&out, c.chart)
			if err == nil || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
				t.Errorf("error %v and %d bytes, want an error with %q and none", err, out.Len(), c.want)
			}
		})
	}
}

// fullDisk takes nothing.
type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	if err := Lines(fullDisk{}, linear()); !errors.Is(err, errFull) {
		t.Errorf("error %v, want that of the writer", err)
	}
}
