package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// TestBulkReply writes results of all kinds and reads them back with the client's types.
func TestBulkReply(t *testing.T) {
	long := strings.Repeat("n", job.NameBytesMax-1) + "é"
	refusal := apierr.Errorf(apierr.InvalidSchedule, "schedule", `"x" is no "schedule"`)
	names := []string{"a", "b", `quote " and é`, long}
	results := []scheduler.PutResult{
		{ID: 7, Version: 1, NextRunAt: 1_764_576_000_123},
		{ID: 1 << 63, Version: 4_294_967_295}, // never runs again
		{Err: refusal},
		{Err: refusal},
	}
	replyError := client.Error{Code: "invalid_schedule", Field: "schedule", Message: refusal.Message}
	want := client.PutManyReply{
		Results: []client.PutResult{
			{Name: "a", ID: job.ID(7).String(), Version: 1, NextRunAt: timeOf(1_764_576_000_123)},
			{Name: "b", ID: job.ID(1 << 63).String(), Version: 4_294_967_295},
			{Name: names[2], Error: &replyError},
			{Name: long[:job.NameBytesMax-1] + "\ufffd", Error: &replyError},
		},
		Accepted: 2, Rejected: 2,
	}
	for n := range len(results) + 1 { // each prefix of them
		text, err := new(Executor).appendBulk(nil, names[:n], results[:n], messageBytesMax)
		if err != nil {
			t.Fatal(err)
		}
		var got client.PutManyReply
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := client.PutManyReply{Results: want.Results[:n], Accepted: min(n, 2), Rejected: max(0, n-2)}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
		}
	}
}

// TestBulkReplyClipped shortens the messages of refusals, and nothing else of them.
func TestBulkReplyClipped(t *testing.T) {
	refusal := apierr.Errorf(apierr.InvalidSchedule, "schedule", "%s", strings.Repeat("é", messageBytesClipped))
	text, err := new(Executor).appendBulk(nil, []string{"a"}, []scheduler.PutResult{{Err: refusal}}, messageBytesClipped)
	if err != nil {
		t.Fatal(err)
	}
	var got client.PutManyReply
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	e := got.Results[0].Error
	if want := strings.Repeat("é", 22) + "…"; e.Message != want || e.Field != "schedule" || e.Code != client.CodeInvalidSchedule {
		t.Errorf("%+v, want the message %q", e, want)
	}
}

// TestBulkThatIsCut: a bulk registration that ends after a job, or goes on with what is no JSON, is no JSON.
func TestBulkThatIsCut(t *testing.T) {
	for _, body := range []string{`{"jobs":[`, `{"jobs":[{}`, `{"jobs":[{"name":"a"}`, `{"jobs":[7`, `{"jobs":[7,`, `{"jobs":[7}`, `{"jobs":[{"name":"a"} x]}`} {
		b := bulkRequest{tenant: "default", most: 100, prepare: prepareNothing}
		if e := PublicError(readBulk([]byte(body), &b)); e.Code != client.CodeInvalidJSON {
			t.Errorf("%s: %v", body, e)
		}
	}
}
