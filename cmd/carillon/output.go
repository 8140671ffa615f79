package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// jsonOptions are the options of all JSON output: equal values give equal bytes, a list without values is [], and a
// payload of {} is not omitted as empty. Equal bytes let scripts compare outputs; lists that are never null spare them
// a case.
var jsonOptions = json.JoinOptions(
	json.Deterministic(true), json.FormatNilSliceAsNull(false), jsonv1.OmitEmptyWithLegacySemantics(true),
)

// ownerOptions omit the fields that the owner of a job has not set. They are for files that people keep: what is at
// its zero value is the default when the file is read again.
var ownerOptions = json.OmitZeroStructFields(true)

// output is a buffered writer for long output. The caller calls flush at the end. A list of a million jobs would
// otherwise cost a system call for each line. Not for concurrent use.
type output struct {
	*bufio.Writer
	// con counts documents, and has the bar that must go before the output.
	con *console
}

// buffered returns the standard output with a buffer of 64 KiB.
func (c *console) buffered() *output { return c.bufferedTo(c.out) }

// bufferedTo is buffered for another writer than the standard output.
func (c *console) bufferedTo(w io.Writer) *output { return &output{bufio.NewWriterSize(w, 64<<10), c} }

// flush writes what is left in the buffer, and returns the first failure to write.
func (o *output) flush() error {
	if err := o.Flush(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// The buffer keeps the first failure, which flush returns. printf writes to the buffer, as that of the console.
func (o *output) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(o, format, printable(args)...)
}

// orDash returns a text, or a dash in place of an empty one.
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

// nounFor returns a noun in the singular or the plural, as it follows a count.
func nounFor(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	if strings.HasSuffix(noun, "ch") {
		return noun + "es"
	}
	return noun + "s"
}

// formatBytes returns a size as people read it. Units are powers of 1,024.
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

// clip shortens a text of the user's for a message. It counts characters, so that no script is cut earlier than
// another.
func clip(s string) string {
	const most = 60
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
