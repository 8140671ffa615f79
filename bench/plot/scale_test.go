package plot

import (
	"math"
	"strings"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		name      string
		log       bool
		low, high float64
		want      string // the labels; a dot is a tick without one
	}{
		{"from zero", false, 3, 96, "0 20 40 60 80 100"},
		{"far from zero", false, 101, 109, "100 102 104 106 108 110"},
		{"below zero", false, -0.3, 0.3, "-0.4 -0.2 0 0.2 0.4"},
		{"one value", false, 7, 7, "6 6.5 7 7.5 8"},
		{"all zero", false, 0, 0, "-1 -0.5 0 0.5 1"},
		{"thousands", false, 0, 2_000_000, "0 500k 1M 1.5M 2M"},
		{"fractions", false, 0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{"decades", true, 1e4, 1e7, "10k " + dots + "100k " + dots + "1M " + dots + "10M"},
		{"many decades", true, 1e-3, 1e3, "0.001 0.01 0.1 1 10 100 1k"},
		{"part of a decade", true, 0.21, 0.9, "0.2 . . 0.5 . . . . 1"},
		{"one value on a logarithm", true, 1, 1, "1 2"},
		{"very many decades", true, 1e-6, 1e6, "1e-06 . 0.0001 . 0.01 . 1 . 100 . 10k . 1M"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScale(Axis{Log: c.log}, c.low, c.high, 0, 100)
			var got []string
			for _, tick := range s.ticks() {
				got = append(got, mark(tick))
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("ticks %q, want %q", text, c.want)
			}
		})
	}
}

const dots = ". . . . . . . . "

func mark(t tick) string {
	if t.label == "" {
		return "."
	}
	return t.label
}

// Every value lands within the frame, the ends on its ends.
func TestPixel(t *testing.T) {
	linear := scale{low: -10, high: 10, from: 300, to: 100}
	log := scale{log: true, low: 1, high: 100, from: 0, to: 50}
	for _, c := range []struct {
		s       scale
		v, want float64
	}{{linear, -10, 300}, {linear, 10, 100}, {linear, 0, 200}, {log, 1, 0}, {log, 10, 25}, {log, 100, 50}} {
		if got := c.s.pixel(c.v); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v is at %v, want %v", c.v, got, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct{ v, down, up float64 }{
		{1, 1, 1}, {1.1, 1, 2}, {3, 2, 5}, {7, 5, 10}, {0.1, 0.1, 0.1}, {0.03, 0.02, 0.05}, {1e7, 1e7, 1e7}, {9.9, 5, 10},
	} {
		if down, up := roundDown(c.v), roundUp(c.v); down != c.down || up != c.up {
			t.Errorf("%v is between %v and %v, want %v and %v", c.v, down, up, c.down, c.up)
		}
	}
}
