package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/carillon-io/carillon/bench/measure"
)

// report gathers results. Each is shown as soon as it is there.
type report struct {
	ctx      context.Context // ends on Ctrl-C; a command then reports what it has
	dir      string          // for temporary files; removed at the end
	out      io.Writer
	progress io.Writer
	machine  *machine // nil until the machine was looked at
	results  []result
}

// result is what one measurement found.
type result struct {
	Name    string   `json:"name"`
	Setting string   `json:"setting"` // what was run, in words
	Figures []figure `json:"figures"`
	Broken  []string `json:"broken,omitempty"` // promises that were not kept; each makes the command fail
	Notes   []string `json:"notes,omitempty"`  // what a reader should know; fails nothing
}

// figure is one number of a result.
type figure struct {
	Key   string  `json:"key"`
	Label string  `json:"label"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"` // empty for a count
}

// add keeps a result and shows it.
func (r *report) add(one result) {
	r.results = append(r.results, one)
	one.print(r.out)
}

// say tells how far things are.
func (r *report) say(format string, args ...any) { fmt.Fprintf(r.progress, format+"\n", args...) }

// interrupted tells whether the user pressed Ctrl-C.
func (r *report) interrupted() bool { return r.ctx.Err() != nil }

// verdict is the error of all that was broken, or cut short.
func (r *report) verdict() error {
	broken := 0
	for _, one := range r.results {
		broken += len(one.Broken)
	}
	switch {
	case broken > 0:
		return fmt.Errorf("%d promises were broken; see above", broken)
	case r.interrupted():
		return fmt.Errorf("interrupted: the figures are those so far")
	}
	return nil
}

// write writes all results to a file, as JSON.
func (r *report) write(path string) error {
	text, err := json.MarshalIndent(map[string]any{
		"machine": r.machine, "results": r.results, "interrupted": r.interrupted(),
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// figure appends one number.
func (r *result) figure(key, label string, value float64, unit string) {
	r.Figures = append(r.Figures, figure{key, label, value, unit})
}

// breaks says that a promise was not kept.
func (r *result) breaks(format string, args ...any) {
	r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
}

// notes says what a reader should know.
func (r *result) notes(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// value returns a figure by its key.
func (r *result) value(key string) (float64, bool) {
	for _, f := range r.Figures {
		if f.Key == key {
			return f.Value, true
		}
	}
	return 0, false
}

// print writes the result as a table.
func (r *result) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %s\n", r.Name, r.Setting)
	widest := 0
	for _, f := range r.Figures {
		widest = max(widest, len([]rune(f.Label)))
	}
	for _, f := range r.Figures {
		line := fmt.Sprintf("  %-*s %14s %s", widest, f.Label, measure.Number(f.Value), f.Unit)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	for _, text := range r.Notes {
		fmt.Fprintf(w, "  note: %s\n", text)
	}
	for _, text := range r.Broken {
		fmt.Fprintf(w, "  BROKEN: %s\n", text)
	}
}
