package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// outputFlag is the flag of every command that prints.
type outputFlag struct {
	Output string `short:"o" help:"Form of what is printed: ${enum}." enum:"table,json" default:"table" env:"CARILLON_OUTPUT"`
}

func (f *outputFlag) isJSON() bool { return f.Output == "json" }

// jsonOptions are how every JSON is written: equal values give equal bytes, and only what has no
// bytes is empty. A payload of {} is not.
var jsonOptions = json.JoinOptions(
	json.Deterministic(true), json.FormatNilSliceAsNull(false), jsonv1.OmitEmptyWithLegacySemantics(true),
)

// ownerOptions leave out what a job's owner has not set.
var ownerOptions = json.OmitZeroStructFields(true)

// printJSON prints one value, indented for people and fine for programs.
func (c *console) printJSON(v any) error {
	b, err := json.Marshal(v, jsonOptions, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = c.out.Write(append(b, '\n'))
	return err
}

// output is a buffered standard output, for what may be long.
type output struct {
	*bufio.Writer
}

func (c *console) buffered() *output { return &output{bufio.NewWriterSize(c.out, 64<<10)} }

// flush writes out what is left, and tells of the first failure to write.
func (o *output) flush() error {
	if err := o.Flush(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

func (o *output) printf(format string, args ...any) { _, _ = fmt.Fprintf(o, format, args...) }

// printJSONValue prints a value on one line and does not end it.
func (o *output) printJSONValue(v any, options ...json.Options) error {
	b, err := json.Marshal(v, append([]json.Options{jsonOptions}, options...)...)
	if err == nil {
		_, err = o.Write(b)
	}
	return err
}

// printJSONLine prints a value as one line.
func (o *output) printJSONLine(v any, options ...json.Options) error {
	if err := o.printJSONValue(v, options...); err != nil {
		return err
	}
	return o.WriteByte('\n')
}

// table aligns columns. Its rows are held until flush, so it is for what fits a screen or a page.
type table struct{ w *tabwriter.Writer }

// newTable returns a table with the given column titles, or none.
func newTable(w io.Writer, titles ...string) *table {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	if len(titles) > 0 {
		t.row(titles...)
	}
	return t
}

// row adds a row. Control characters in a cell, which would break the table or the terminal, are made
// visible.
func (t *table) row(cells ...string) {
	for i, cell := range cells {
		if cell == "" {
			cell = "-"
		}
		cells[i] = printable(cell)
	}
	_, _ = fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

// pair adds a row of a name and its value.
func (t *table) pair(name, value string) { t.row(name, value) }

func (t *table) flush() error {
	if err := t.w.Flush(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// printable replaces control characters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '·'
		}
		return r
	}, s)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// plural returns a count with its noun.
func plural[N ~int | ~int64 | ~uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// formatBytes returns a size as people read it.
func formatBytes(n int64) string {
	const unit = 1024
	if n < unit {
		return plural(n, "byte")
	}
	value, i := float64(n)/unit, 0
	for ; value >= unit && i < 3; i++ {
		value /= unit
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGT"[i])
}
