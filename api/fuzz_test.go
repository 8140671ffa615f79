package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

func readPut(body []byte) (putRequest, error) {
	p := newPutRequest("default")
	err := read(body, func(r *reader) error { return putMembers.read(r, &p) })
	if err == nil {
		err = p.finish(job.Rules{Prefix: "carillon"})
	}
	return p, err
}

// FuzzPut reads any bytes as a job: that gives a job or a refusal, and a job that is shown and put again
// is the same job.
func FuzzPut(f *testing.F) {
	for _, bad := range apitest.BadRequests() {
		if bad.Verb == "jobs.put" && len(bad.Body) < 2000 {
			f.Add([]byte(bad.Body))
		}
	}
	f.Add([]byte(apitest.SampleJob(1)))
	f.Add([]byte(apitest.JobWith("payload", `[1.50, "\u0041", {"b": [], "a": null}]`, "starts_at", `"2026-12-01T08:00:00.0001+01:00"`, "labels", `{"b":"2","a":"1"}`)))
	f.Add([]byte(apitest.JobWith("schedule", "-", "schedules", `["0 8 * * *", "@every\t1h"]`, "exclude", `["2026-12-25"]`, "retry", `{"jitter":0.1,"client_errors":true}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		first, err := readPut(body)
		if err != nil {
			if e, ok := errors.AsType[*apierr.Error](err); !ok || e.Message == "" || statusOf[e.Code] == 0 {
				t.Fatalf("refused with %#v", err)
			}
			return
		}
		text := append(appendDefinition([]byte{'{'}, &first.def, true), '}')
		second, err := readPut(text)
		if err != nil {
			t.Fatalf("shown as %s, which is refused: %v", text, err)
		}
		compareDefinitions(t, first.def, second.def)
	})
}

// compareDefinitions compares a definition with the one read from its own text. That has the payload
// without the spaces between its tokens.
func compareDefinitions(t *testing.T, first, second job.Definition) {
	if first.PayloadJSON {
		compact, err := jsontext.AppendFormat(nil, first.Payload, jsontext.PreserveRawStrings(true))
		if err != nil {
			t.Fatal(err)
		}
		first.Payload = compact
	}
	if !bytes.Equal(first.Payload, second.Payload) {
		t.Fatalf("payload %q became %q", first.Payload, second.Payload)
	}
	first.Payload, second.Payload = nil, nil
	if first.PayloadJSON != second.PayloadJSON || !reflect.DeepEqual(first, second) {
		t.Fatalf("%+v\nbecame %+v", first, second)
	}
}

// FuzzRequests reads any bytes as each of the other requests.
func FuzzRequests(f *testing.F) {
	for _, bad := range apitest.BadRequests() {
		if len(bad.Body) < 2000 {
			f.Add([]byte(bad.Body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		b := bulkRequest{tenant: "default", most: 100, prepare: prepareNothing}
		err := readBulk(body, &b)
		if err == nil && !json.Valid(body) {
			t.Fatal("accepted what is no JSON")
		}
		if len(b.items) != len(b.names) || len(b.items) > 100 {
			t.Fatalf("%d items, %d names", len(b.items), len(b.names))
		}
		readAs(body, nameMembers)
		readAs(body, listMembers)
		readAs(body, triggerMembers)
		readAs(body, backfillMembers)
		readAs(body, runListMembers)
		readAs(body, nextMembers)
		readAs(body, reportMembers)
		readAs(body, extendMembers)
		readAs(body, retryManyMembers)
		readAs(body, dismissMembers)
		readAs(body, dismissManyMembers)
		readAs(body, calendarMembers)
		readAs(body, auditMembers)
	})
}

func readAs[T any](body []byte, members object[T]) {
	var v T
	_ = read(body, func(r *reader) error { return members.read(r, &v) })
}

// FuzzFindText looks for a member in any bytes: if the whole request can be read, it finds what the verb reads.
func FuzzFindText(f *testing.F) {
	for _, seed := range []string{`{"name":"a"}`, `{"n\u0061me":"\u0062"}`, `{"name":null}`, `{"name":7}`, `[]`, `{"name"`, `{"with_credentials":true,"name":"x"}`, `{"name":"a"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		name, ok := findText(body, "name")
		if q, err := requestOf(&Request{Body: body}, getMembers); err == nil && (q.Name != name || ok != (name != "") && name != "") {
			t.Errorf("%q has the name %q, and %q was found: %t", body, q.Name, name, ok)
		}
	})
}

// FuzzOpenObject takes members out of any object: the rest is what it was.
func FuzzOpenObject(f *testing.F) {
	f.Add([]byte(`{"limit":1, "a" : [1, 2] ,"cursor":"x","b":{"limit":2}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var want map[string]jsontext.Value
		if jsonv2.Unmarshal(body, &want) != nil || want == nil {
			return
		}
		delete(want, "limit")
		var got map[string]jsontext.Value
		if err := jsonv2.Unmarshal(append(openObject(body, "limit"), '}'), &got); err != nil || !maps.EqualFunc(got, want, func(a, b jsontext.Value) bool { return string(a) == string(b) }) {
			t.Errorf("%q became %v, %v", body, got, err)
		}
	})
}

// FuzzReadPlace reads any bytes as the place of a shard in a cursor: what is read is written again as the same.
func FuzzReadPlace(f *testing.F) {
	f.Add([]byte{0, 0, 0, 7})
	f.Add([]byte{0x80, 0x9c, 1, 5, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		key, rest, err := readPlace(b)
		if err != nil || key == "" {
			return
		}
		if p, err := parseAuditPlace(key); err != nil || auditKey(p) != key || len(rest) >= len(b) {
			t.Errorf("%x gave %q, %v", b, key, err)
		}
	})
}
