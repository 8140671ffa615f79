package job

import (
	"encoding/hex"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestRowsOfVersion1 reads the rows that the first release wrote: what they lack is zero.
func TestRowsOfVersion1(t *testing.T) {
	text, err := os.ReadFile("testdata/rows_v1.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Kind]bool{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if fields[1] != "1" { // only puts have a row
			continue
		}
		key, value := unhex(t, fields[3]), unhex(t, fields[5])
		seen[Kind(key[0])] = true
		if value[0] != rowVersion {
			t.Errorf("key %x: version %d", key, value[0])
		}
		checkOldRow(t, key, value)
	}
	if len(seen) != 10 {
		t.Errorf("%d kinds, want 10", len(seen))
	}
}

func checkOldRow(t *testing.T, key, value []byte) {
	t.Helper()
	check := func(got, want any, err error) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("kind %d: got %+v (%v)\nwant %+v", key[0], got, err, want)
		}
	}
	switch Kind(key[0]) {
	case KindProfile:
		_, want, _ := samplePositions()
		want.Spec.Exclude, want.Jitter, want.MaxConcurrent, want.PauseOnFailure, want.ReportWithin, want.Retry.Jitter = "", 0, 0, 0, 0, 0
		got, err := DecodeProfile(value)
		check(got, want, err)
	case KindJob:
		want := sampleDefinition()
		want.Schedules, want.Exclude, want.MaxConcurrent, want.PauseOnFailure = nil, nil, 0, 0
		want.Retry.Jitter, want.Retry.ClientErrors = 0, false
		got, err := DecodeRecord(77, value)
		check(got.Def, want, err)
	case KindRun, KindHistory:
		want := sampleRun()
		want.Base, want.Deadline, want.Stale = 0, 0, 0
		got, err := DecodeRun(want.ID, value)
		check(got, want, err)
	case KindNote:
		got, err := DecodeNote(value)
		check(got, Note{At: 1764576000000, Reason: "holiday"}, err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
