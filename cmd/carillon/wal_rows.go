package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/wal"
)

// walCommit is the JSON of one commit of `wal dump`. The names are part of the output and only grow.
type walCommit struct {
	LSN   uint64 `json:"lsn"`
	Epoch uint64 `json:"epoch"`
	Hash  string `json:"hash"`
	// Durable is the watermark in the frame: what was known to be durable when it was written.
	Durable uint64 `json:"durable_lsn"`
	// Bytes is the size of the payload, without the frame.
	Bytes int      `json:"bytes"`
	Rows  []walRow `json:"rows"`
}

// walRow is one change of a row. Fields is nil for a deletion.
type walRow struct {
	Op   string `json:"op"`
	Kind string `json:"kind"`
	// Key is in the form that the kind has, or in hex.
	Key    string         `json:"key"`
	To     string         `json:"to,omitzero"` // end of a range
	Fields map[string]any `json:"fields,omitzero"`

	shown []field // Fields in the order in which they are printed
}

// field is a named value of a row. A list of fields keeps the order for people, which a map would lose.
type field struct {
	name  string
	value any
}

// decodeCommit reads the rows of a frame. Rows that this build cannot decode are shown in hex. It fails only if the
// batch itself cannot be split into changes.
func decodeCommit(f wal.Frame) (walCommit, error) {
	c := walCommit{
		LSN: f.LSN, Epoch: f.Epoch, Hash: hex.EncodeToString(f.Hash[:]), Durable: f.Durable, Bytes: len(f.Payload),
	}
	err := job.Changes(f.Payload, func(change job.Change) error {
		c.Rows = append(c.Rows, decodeRow(change))
		return nil
	})
	if err != nil {
		return c, fmt.Errorf("LSN %d: %w", f.LSN, err)
	}
	return c, nil
}

// rowKind says how one kind of row is named and decoded. The functions must not panic for any bytes, since a dump is
// made of damaged logs, too.
type rowKind struct {
	name   string
	key    func(key []byte) (string, error)
	fields func(key, value []byte) ([]field, error)
}

// decodeRow decodes a change. What cannot be decoded is shown in hex, with the reason. A row that cannot be decoded
// must not end a dump: a damaged or newer row is often what the dump is made for.
func decodeRow(c job.Change) walRow {
	kind, known := rowKinds[job.Kind(c.Key[0])]
	row := walRow{Op: opName(c.Op), Kind: kind.name, Key: hex.EncodeToString(c.Key)}
	if !known {
		row.Kind = fmt.Sprintf("kind %d", c.Key[0])
		return row
	}
	// The value of such a change is the end of its range, as a key.
	if c.Op == job.OpDeleteRange {
		row.To = hex.EncodeToString(c.Value)
		return row
	}
	if key, err := kind.key(c.Key); err == nil {
		row.Key = key
	}
	if c.Op == job.OpDelete {
		return row
	}
	fields, err := kind.fields(c.Key, c.Value)
	if err != nil {
		fields = []field{{"undecoded", hex.EncodeToString(c.Value)}, {"error", err.Error()}}
	}
	row.shown, row.Fields = fields, make(map[string]any, len(fields))
	for _, f := range fields {
		row.Fields[f.name] = f.value
	}
	return row
}

// opName returns the name of an operation in the output.
func opName(op job.Op) string {
	switch op {
	case job.OpPut:
		return "put"
	case job.OpDelete:
		return "delete"
	default:
		return "delete_range"
	}
}

// printCommit prints a commit for people.
func (o *output) printCommit(f wal.Frame) error {
	c, err := decodeCommit(f)
	if err != nil {
		return err
	}
	o.printf("LSN %d  epoch %d  %s  %s  hash %s\n",
		c.LSN, c.Epoch, plural(len(c.Rows), "row"), formatBytes(int64(c.Bytes)), c.Hash[:12])
	for _, r := range c.Rows {
		o.printf("  %-6s %-8s %s%s\n", r.Op, r.Kind, r.Key, r.text())
	}
	return nil
}

// printCommitDocument prints a commit for programs.
func (o *output) printCommitDocument(form outputForm, f wal.Frame) error {
	c, err := decodeCommit(f)
	if err != nil {
		return err
	}
	return o.printRecord(form, c)
}

// text returns the fields of a row on one line, without those that are empty or false. A dump for people leaves out
// what is at its default; that for programs has every field.
func (r *walRow) text() string {
	var b strings.Builder
	if r.To != "" {
		b.WriteString(" to " + r.To)
	}
	for _, f := range r.shown {
		switch v := f.value.(type) {
		case string:
			if v == "" {
				continue
			}
			if strings.ContainsAny(v, " \"\n\t") {
				fmt.Fprintf(&b, "  %s=%q", f.name, v)
				continue
			}
		case bool:
			if !v {
				continue
			}
		}
		fmt.Fprintf(&b, "  %s=%v", f.name, f.value)
	}
	return b.String()
}
