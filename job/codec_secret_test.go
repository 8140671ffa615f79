package job

import (
	"bytes"
	"reflect"
	"testing"
)

// sampleSecrets returns a definition with each kind of reference.
func sampleSecrets() Definition {
	d := sampleDefinition()
	d.Target = Target{Kind: TargetHTTP, Method: "POST", URLSecret: "default/url", Sign: "default/key", ClientCert: "default/cert"}
	d.SecretHeaders = []Pair{{"Authorization", "default/hook"}, {"X-Api-Key", "default/api.key-2"}}
	return d
}

// TestJobWithSecrets: the references come back, their bytes stay as they are, and none of them may be missing. A job
// without one is written as it always was.
func TestJobWithSecrets(t *testing.T) {
	want := Record{Def: sampleSecrets(), Stamp: Stamp{ID: 77, Version: 3, CreatedAt: 1, UpdatedAt: 2, Anchor: 3}}
	checkRecord(t, recordRow(&want), want, "testdata/rows_v6.txt")
}

// TestEachSecretIsKept: one reference alone is enough, with and without a number of places.
func TestEachSecretIsKept(t *testing.T) {
	all := sampleSecrets()
	for i, set := range []func(*Definition){
		func(d *Definition) { d.Target.URLSecret = all.Target.URLSecret },
		func(d *Definition) { d.Target.Sign = all.Target.Sign },
		func(d *Definition) { d.Target.ClientCert = all.Target.ClientCert },
		func(d *Definition) { d.SecretHeaders = all.SecretHeaders },
	} {
		for _, places := range []uint32{0, 1, 255, MaxInFlightMax} {
			want := Record{Def: sampleDefinition(), Stamp: Stamp{ID: 77, Version: 1}}
			want.Def.Target = Target{Kind: TargetHTTP, URL: "https://example.com", Method: "POST", MaxInFlight: places}
			set(&want.Def)
			row := recordRow(&want)
			if got, err := DecodeRecord(77, row); err != nil || !reflect.DeepEqual(got, want) || row[0] != rowVersion6 {
				t.Errorf("reference %d, %d places: version %d, got %+v (%v)\nwant %+v", i, places, row[0], got, err, want)
			}
			d := want.Def
			d.Payload, d.PayloadJSON = nil, false
			if got, err := DecodeAuditDefinition(AuditDefinition(&d)); err != nil || !reflect.DeepEqual(got, d) {
				t.Errorf("reference %d, %d places: the audit log has %+v (%v)\nwant %+v", i, places, got, err, d)
			}
		}
	}
}

// TestMarkOfSecretsIsUnique: no definition without references ends with the mark of those with some.
func TestMarkOfSecretsIsUnique(t *testing.T) {
	d := sampleDefinition()
	for places := range uint32(70_000) {
		d.Target.MaxInFlight = places
		if b := EncodeDefinition(&d); b[len(b)-1] == definition6Mark {
			t.Fatalf("%d places end with the mark", places)
		}
	}
	d.Target.MaxInFlight = 1<<32 - 1
	if b := EncodeDefinition(&d); bytes.HasSuffix(b, []byte{definition6Mark}) {
		t.Error("the largest number ends with the mark")
	}
}
