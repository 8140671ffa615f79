package job

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"
)

// TestJobWithPlaces: the number of places at a target comes back, its bytes stay as they are, and none of
// them may be missing. A job without one is written as it always was, see TestTracedJob and TestRowBytes.
func TestJobWithPlaces(t *testing.T) {
	want := Record{Def: sampleDefinition(), Stamp: Stamp{ID: 77, Version: 3, CreatedAt: 1, UpdatedAt: 2, Anchor: 3}}
	want.Def.Target.MaxInFlight = 300
	var b Batch
	b.PutRecord(want.Stamp, EncodeDefinition(&want.Def))
	var value []byte
	_ = Changes(b.Bytes(), func(c Change) error {
		value = bytes.Clone(c.Value)
		return nil
	})
	if got, err := DecodeRecord(77, value); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v (%v)\nwant %+v", got, err, want)
	}
	for n := range value {
		if _, err := DecodeRecord(77, value[:n]); !errors.Is(err, ErrRow) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	const path = "testdata/rows_v4.txt"
	got := fmt.Sprintf("%x\n", value)
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil || got != string(golden) {
		t.Errorf("the bytes of a job with places have changed; a new version is needed (%v).\ngot:\n%s\nwant:\n%s", err, got, golden)
	}
}

// TestAuditWithPlaces: the audit log keeps the number too, and reads what it wrote before there was one.
func TestAuditWithPlaces(t *testing.T) {
	for _, places := range []uint32{0, 1, 128, MaxInFlightMax} {
		d := sampleDefinition()
		d.Target.MaxInFlight, d.Payload, d.PayloadJSON = places, nil, false
		_, after, err := AuditUpdate(&d, EncodeDefinition(&d))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeAuditDefinition(after); err != nil || !reflect.DeepEqual(got, d) || !bytes.Equal(after, AuditDefinition(&d)) {
			t.Errorf("%d places: got %+v (%v)\nwant %+v", places, got, err, d)
		}
	}
}
