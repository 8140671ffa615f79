package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// jsonOptions are how every JSON is written: equal values give equal bytes, and only what has no
// bytes is empty. A payload of {} is not.
var jsonOptions = json.JoinOptions(
	json.Deterministic(true), json.FormatNilSliceAsNull(false), jsonv1.OmitEmptyWithLegacySemantics(true),
)

// ownerOptions leave out what a job's owner has not set.
var ownerOptions = json.OmitZeroStructFields(true)

// output is a buffered standard output, for what may be long.
type output struct {
	*bufio.Writer
	con *console
}

func (c *console) buffered() *output { return c.bufferedTo(c.out) }

// bufferedTo is buffered for what goes elsewhere.
func (c *console) bufferedTo(w io.Writer) *output { return &output{bufio.NewWriterSize(w, 64<<10), c} }

// flush writes out what is left, and tells of the first failure to write.
func (o *output) flush() error {
	if err := o.Flush(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

func (o *output) printf(format string, args ...any) { _, _ = fmt.Fprintf(o, format, args...) }

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
	return fmt.Sprintf("%d %s", n, nounFor(int64(n), noun))
}

// nounFor returns a noun as it follows a count.
func nounFor(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	if strings.HasSuffix(noun, "ch") {
		return noun + "es"
	}
	return noun + "s"
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
