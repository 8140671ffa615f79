package job

import (
	"reflect"
	"testing"
)

// sampleDismissal returns a dead run that was dismissed.
func sampleDismissal() Run {
	r := sampleRun()
	r.Dismissal = Dismissal{At: 1764576099000, By: "ann", Reason: "known"}
	return r
}

// TestDismissedRun: the mark of a dismissal comes back, its bytes stay as they are, and none of them may be missing. A
// run without a mark is written as it always was, see TestRowBytes.
func TestDismissedRun(t *testing.T) {
	want := sampleDismissal()
	value := appendRunValue(nil, &want)
	checkGolden(t, value, "testdata/rows_v8.txt")
	if got, err := DecodeRun(want.ID, value); err != nil || !reflect.DeepEqual(got, want) || value[0] != RowsVersionOfDismissals {
		t.Errorf("version %d: got %+v (%v)\nwant %+v", value[0], got, err, want)
	}
	for n := range value {
		if _, err := DecodeRun(want.ID, value[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are a run", n, len(value))
		}
	}
	want.Dismissal = Dismissal{}
	if value := appendRunValue(nil, &want); value[0] != rowVersion2 || !want.IsListedDead() {
		t.Errorf("without the mark the row has version %d, want %d", value[0], rowVersion2)
	}
}
