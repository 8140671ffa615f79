package job

import (
	"bytes"
	"reflect"
	"testing"
)

// TestJobWithPlaces: the number of places at a target comes back, its bytes stay as they are, and none of
// them may be missing. A job without one is written as it always was, see TestTracedJob and TestRowBytes.
func TestJobWithPlaces(t *testing.T) {
	want := Record{Def: sampleDefinition(), Stamp: Stamp{ID: 77, Version: 3, CreatedAt: 1, UpdatedAt: 2, Anchor: 3}}
	want.Def.Target.MaxInFlight = 300
	checkRecord(t, recordRow(&want), want, "testdata/rows_v4.txt")
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
