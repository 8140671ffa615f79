package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// result holds the figures of one workload. The keys of its figures are for programs and stay; labels are for people
// and may change.
type result struct {
	// Name is a key in the JSON file, and does not change.
	Name    string
	Setting string // description of the workload
	Figures []figure
	Broken  []string // broken promises, and the error that ended the workload

	Interrupted bool // the workload was interrupted; the figures are partial
}

// figure is one number of a result. All values are floats, because programs that read the file compare them.
type figure struct {
	Key string // its name in JSON; ends with the unit
	// Label is in the words of the documentation.
	Label string
	Value float64
	Unit  string // "" for a count
}

// count adds a figure that is a whole number without a unit.
func (r *result) count(key, label string, n int) {
	r.Figures = append(r.Figures, figure{key, label, float64(n), ""})
}

// add adds a figure. Keys are part of the JSON file and must not change.
func (r *result) add(key, label string, value float64, unit string) {
	r.Figures = append(r.Figures, figure{key, label, value, unit})
}

// none adds a count that must be 0.
func (r *result) none(key, text string, n int) {
	r.count(key, text, n)
	if n != 0 {
		r.breaks("%d are %s", n, text)
	}
}

// extent adds the least, the middle and the greatest of some values.
func (r *result) extent(key, label string, values []float64, unit string) {
	if len(values) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(values))
	r.add(key+"_min", label+", min", sorted[0], unit)
	r.add(key+"_median", label+", median", sorted[len(sorted)/2], unit)
	r.add(key+"_max", label+", max", sorted[len(sorted)-1], unit)
}

// spread adds the percentiles of samples, in milliseconds.
func (r *result) spread(key, label string, s samples) {
	for _, p := range s.points() {
		r.add(key+"_"+p.key+"_ms", label+" "+p.label, millis(p.value), "ms")
	}
}

// breaks records a broken promise, or an error that ended the workload. It makes the exit status 1.
func (r *result) breaks(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}

// millis returns a duration in milliseconds, with fractions.
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// print writes the result as a table.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n", r.Name, r.Setting)
	widest := 0
	for _, f := range r.Figures {
		widest = max(widest, len(f.Label))
	}
	for _, f := range r.Figures {
		line := fmt.Sprintf("  %-*s %14s %s", widest, f.Label, measure.Number(f.Value), f.Unit)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	if r.Interrupted {
		fmt.Fprintln(w, "  interrupted: these are the figures so far")
	}
	for _, text := range r.Broken {
		fmt.Fprintf(w, "  BROKEN: %s\n", text)
	}
}

// writeJSON writes all results to a file. It overwrites the file.
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
