package job

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"
)

// sampleTraced returns the row of a job whose registration was traced, and what it is read as.
func sampleTraced() (value []byte, want Record) {
	d := sampleDefinition()
	want.Def = d
	want.Stamp = Stamp{ID: 77, Version: 3, CreatedAt: 1, UpdatedAt: 2, Anchor: 3}
	want.Origin = TraceContext{Trace: [16]byte{1, 15: 16}, Span: [8]byte{17, 7: 24}, Flags: 1}
	return recordRow(&want), want
}

// TestTracedJob: the span of the registration comes back, its bytes stay as they are, and none of them may
// be missing.
func TestTracedJob(t *testing.T) {
	value, want := sampleTraced()
	checkRecord(t, value, want, "testdata/rows_v3.txt")
}

// checkRecord checks what the row of a job is read as, that none of its bytes may be missing, and that they are those
// of a file.
func checkRecord(t *testing.T, value []byte, want Record, path string) {
	t.Helper()
	if got, err := DecodeRecord(77, value); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v (%v)\nwant %+v", got, err, want)
	}
	for n := range value {
		if _, err := DecodeRecord(77, value[:n]); !errors.Is(err, ErrRow) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	checkGolden(t, value, path)
}

// checkGolden compares the bytes of a row with those of a file.
func checkGolden(t *testing.T, value []byte, path string) {
	t.Helper()
	got := fmt.Sprintf("%x\n", value)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil || got != string(golden) {
		t.Errorf("the bytes have changed; a new version is needed (%v).\ngot:\n%s\nwant:\n%s", err, got, golden)
	}
}

// recordRow returns the row of a job.
func recordRow(r *Record) (value []byte) {
	var b Batch
	b.PutRecord(r.Stamp, EncodeDefinition(&r.Def))
	_ = Changes(b.Bytes(), func(c Change) error {
		value = bytes.Clone(c.Value)
		return nil
	})
	return value
}

// TestUntracedJob is written as it always was: half a span is none.
func TestUntracedJob(t *testing.T) {
	d := sampleDefinition()
	row := func(origin TraceContext) string {
		var b Batch
		b.PutRecord(Stamp{ID: 77, Origin: origin}, EncodeDefinition(&d))
		return string(b.Bytes())
	}
	want := row(TraceContext{})
	for _, origin := range []TraceContext{{Flags: 1}, {Trace: [16]byte{1}, Flags: 1}, {Span: [8]byte{1}}} {
		if row(origin) != want {
			t.Errorf("%+v is kept", origin)
		}
	}
}
