package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/scheduler"
)

// TestJobIsWrittenInFull writes a job with every field set and one with none, and reads them back with
// the client's types, which must know all that is written.
func TestJobIsWrittenInFull(t *testing.T) {
	full, at := apitest.WholeJob(), apitest.DeskAt
	want := client.JobInfo{
		Job: client.Job{
			Name: "a/b", Schedules: []string{"@every 1h", "0 8 * * *"}, Exclude: []string{"@calendar \"x\""}, Timezone: "Asia/Tokyo", StartsAt: timeOf(at), EndsAt: timeOf(at + 1), MaxRuns: 9, Jitter: client.Duration(time.Minute),
			Target:  client.Target{Kind: "http", URL: "https://example.com/?a=1&b=<2>", Method: "PUT", MaxInFlight: 12},
			Payload: json.RawMessage(`{"a":[1.50,"\u0041"]}`), Headers: map[string]string{"X-A": "é", "X-B": `"`}, Completion: "reported",
			AttemptTimeout: client.Duration(90 * time.Second),
			Retry: client.Retry{
				MaxAttempts: 4, InitialInterval: client.Duration(2 * time.Second), Multiplier: 1.5,
				MaxInterval: client.Duration(36 * time.Hour), MaxAge: client.Duration(7 * 24 * time.Hour),
				Jitter: new(0.25), ClientErrors: true,
			},
			PauseOnFailure: 5, OverlapPolicy: "allow", MaxConcurrent: 3, MissedRunPolicy: "backfill", CatchupWindow: new(client.Duration(48 * time.Hour)), MaxCatchupRuns: new(uint32(20)),
			Paused: true, Labels: map[string]string{"team": "billing"}, Description: "bad \ufffd text",
		},
		ID: job.ID(42).String(), Tenant: "acme", Version: 7, Status: "paused", StatusReason: "because \"x\"\n", StatusBy: "alice@ci", NextRunAt: timeOf(at), NextLaunchAt: timeOf(at + 500),
		LastRun:   &client.LastRun{ID: full.LastRun.ID.String(), Status: "succeeded", ScheduledAt: timeOf(at), LatenessMS: 1.5},
		CreatedAt: timeOf(at - 2), UpdatedAt: timeOf(at - 1),
	}
	compareJob(t, &full, true, want)

	want.Payload, want.PayloadOmitted = nil, true
	compareJob(t, &full, false, want)

	want.Payload, want.PayloadOmitted, want.PayloadBase64 = nil, false, []byte{0, 255}
	full.Def.Payload, full.Def.PayloadJSON = []byte{0, 255}, false
	compareJob(t, &full, true, want)

	full.LastRun, want.LastRun = nil, nil
	full.Def.Payload, want.PayloadBase64 = nil, nil
	full.Def.Headers, want.Headers = nil, map[string]string{}
	full.NextRunAt, want.NextRunAt = 0, client.Time{}
	full.NextLaunchAt, want.NextLaunchAt = 0, client.Time{}
	full.Def.Schedules, want.Schedules = nil, nil
	full.Def.Schedule, want.Schedule = "@daily", "@daily"
	full.Def.Exclude, want.Exclude = nil, nil
	compareJob(t, &full, true, want)
}

func compareJob(t *testing.T, v *scheduler.JobView, hasPayload bool, want client.JobInfo) {
	t.Helper()
	text := appendJob(nil, masked(v), hasPayload)
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var got client.JobInfo
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot  %+v\nwant %+v", text, got, want)
	}
}
