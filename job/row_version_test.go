package job

import (
	"errors"
	"testing"
)

// TestRowsVersion: a batch knows the newest version of the rows that it puts, and a reader refuses one that has a
// version that it does not know, whatever kind of row it is.
func TestRowsVersion(t *testing.T) {
	d := Definition{Tenant: "default", Name: "a", Schedule: "@every 1s", Target: Target{Kind: TargetNATS, Subject: "x"}}
	places := d
	places.Target.MaxInFlight = 3
	secret, header := d, places
	secret.Target = Target{Kind: TargetHTTP, URL: "https://example.com", Method: "POST", Sign: "default/key"}
	header.SecretHeaders = []Pair{{"Authorization", "default/hook"}}
	for _, tt := range []struct {
		name string
		def  Definition
		want byte
	}{{"plain", d, 2}, {"with places", places, 4}, {"signed", secret, 6}, {"with a secret header", header, 6}} {
		var b Batch
		b.PutRecord(Stamp{ID: 7, Version: 1}, EncodeDefinition(&tt.def))
		needs, field := RowsVersionOf(&tt.def)
		if got := b.RowsVersion(); got != tt.want || needs != tt.want || (field != "") != (tt.want >= 4) {
			t.Errorf("%s: the batch has rows of version %d, and the definition needs %d for %q; want %d", tt.name, got, needs, field, tt.want)
		}
		if err := CheckRows(b.Bytes()); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		b.PutMeta("epoch", 3)
		b.Delete(AppendJobKey(nil, KindJob, 8))
		if b.RowsVersion() != tt.want {
			t.Errorf("%s: further changes make it version %d", tt.name, b.RowsVersion())
		}
		if b.Reset(); b.RowsVersion() != 0 {
			t.Errorf("%s: an empty batch has rows of version %d", tt.name, b.RowsVersion())
		}
	}
	for kind := KindMeta; kind < kindEnd; kind++ {
		var b Batch
		b.Put([]byte{byte(kind), 'k'}, []byte{RowsVersion + 1, 0})
		if err := CheckRows(b.Bytes()); !errors.Is(err, ErrNewerRows) {
			t.Errorf("a newer row of kind %d: %v, want ErrNewerRows", kind, err)
		}
	}
	for name, change := range map[string][]byte{"kind of row": {byte(OpPut), 2, byte(kindEnd), 'k', 1, 1}, "operation": {byte(OpDeleteRange) + 1}} {
		var b Batch
		b.PutMeta("epoch", 3)
		newer := append(b.Bytes(), change...)
		if err := CheckRows(newer); !errors.Is(err, ErrNewerRows) {
			t.Errorf("a newer %s: %v, want ErrNewerRows", name, err)
		}
	}
	for name, change := range map[string][]byte{"kind of row": {byte(OpPut), 2, 0, 'k', 1, 1}, "operation": {0}} {
		broken := append([]byte{batchVersion}, change...)
		if err := errors.Join(CheckRows(broken), Changes(broken, func(Change) error { return nil })); err == nil || errors.Is(err, ErrNewerRows) {
			t.Errorf("the %s 0: %v, want an error about a damaged batch from Changes", name, err)
		}
	}
	if err := CheckRows([]byte("no batch")); err != nil {
		t.Errorf("bytes that are no batch: %v, want that to be left to Changes", err)
	}
}
