package job

import (
	"bytes"
	"reflect"
	"testing"
)

// TestDeletedRow: the definition of a deleted job is the one of its row, whatever version that has, its bytes stay as they
// are, and none of them may be missing.
func TestDeletedRow(t *testing.T) {
	want := Record{Stamp: Stamp{ID: 77, Version: 3, CreatedAt: 1, UpdatedAt: 2, Anchor: 3}, Def: sampleDefinition()}
	var deleted Batch
	record := recordRow(&want)
	deleted.PutDeleted(77, record)
	var value []byte
	_ = Changes(deleted.Bytes(), func(c Change) error {
		value = bytes.Clone(c.Value)
		return nil
	})
	checkGolden(t, value, "testdata/rows_v9.txt")
	if got, err := DecodeDeleted(77, value); err != nil || !reflect.DeepEqual(got, want) || deleted.RowsVersion() != RowsVersionOfDeleted {
		t.Errorf("version %d: got %+v (%v)\nwant %+v", deleted.RowsVersion(), got, err, want)
	}
	for n := range value {
		if _, err := DecodeDeleted(77, value[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are a definition", n, len(value))
		}
	}
	if _, err := DecodeDeleted(77, record); err == nil {
		t.Error("a row without the version of its own is a definition")
	}
}
