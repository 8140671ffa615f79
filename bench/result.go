package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
)

// result is what one workload found.
type result struct {
	Name    string
	Setting string // what was run, in words
	Figures []figure
	Broken  []string // promises that were not kept; what kept the workload from its end

	Interrupted bool // the figures are those so far
}

// figure is one number of a result.
type figure struct {
	Key   string // in JSON; ends in the unit
	Label string
	Value float64
	Unit  string // "" for a count
}

func (r *result) count(key, label string, n int) {
	r.Figures = append(r.Figures, figure{key, label, float64(n), ""})
}

func (r *result) add(key, label string, value float64, unit string) {
	r.Figures = append(r.Figures, figure{key, label, value, unit})
}

// spread adds the distribution of some samples, in milliseconds.
func (r *result) spread(key, label string, s samples) {
	for _, p := range s.points() {
		r.add(key+"_"+p.key+"_ms", label+" "+p.label, millis(p.value), "ms")
	}
}

func (r *result) breaks(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// print writes the result as a table.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n", r.Name, r.Setting)
	widest := 0
	for _, f := range r.Figures {
		widest = max(widest, len(f.Label))
	}
	for _, f := range r.Figures {
		line := fmt.Sprintf("  %-*s %14s %s", widest, f.Label, formatNumber(f.Value), f.Unit)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if r.Interrupted {
		fmt.Fprintln(w, "  interrupted: these are the figures so far")
	}
	for _, text := range r.Broken {
		fmt.Fprintf(w, "  BROKEN: %s\n", text)
	}
}

// formatNumber writes large numbers whole, in groups of three, and small ones with three digits.
func formatNumber(v float64) string {
	if v != math.Trunc(v) && math.Abs(v) < 1000 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	text := strconv.FormatFloat(math.Abs(math.Round(v)), 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	if v < 0 {
		return "-" + text
	}
	return text
}

// writeJSON writes all results to a file.
func writeJSON(path string, m *machine, results []*result) error {
	type object map[string]any
	all := object{}
	for _, r := range results {
		one := object{"setting": r.Setting, "interrupted": r.Interrupted, "broken": append([]string{}, r.Broken...)}
		for _, f := range r.Figures {
			one[f.Key] = f.Value
		}
		all[r.Name] = one
	}
	text, err := json.MarshalIndent(object{"machine": m, "results": all}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
