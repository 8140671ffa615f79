package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/client"
)

// TestBulkNamesWhatItHadNoTimeFor registers jobs that take 1.6 s each to prepare in a request of four seconds: those of
// the first three seconds are registered, and each of the others is named with why it is not.
func TestBulkNamesWhatItHadNoTimeFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		put := 0
		e := &faulty{prepare: func() { put++; time.Sleep(1600 * time.Millisecond) }, putMany: func(context.Context) {}}
		l, err := NewLocal(e, Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		var jobs []string
		for _, name := range []string{"a", "b", "c", "d"} {
			jobs = append(jobs, `{"name":"`+name+`","schedule":"@daily","target":{"kind":"nats","subject":"x"}}`)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		text, err := l.Ask(ctx, "default", "jobs.put_many", "", []byte(`{"jobs":[`+strings.Join(jobs, ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		var reply client.PutManyReply
		if err := json.Unmarshal(text, &reply); err != nil {
			t.Fatal(err)
		}
		if put != 2 || len(reply.Results) != 4 || ctx.Err() != nil {
			t.Fatalf("%d were prepared, %d results, %v", put, len(reply.Results), ctx.Err())
		}
		for i, r := range reply.Results[2:] {
			if r.Name != "cd"[i:i+1] || r.Error == nil || r.Error.Code != client.CodeUnavailable || !strings.Contains(r.Error.Message, "not registered") {
				t.Errorf("result %d: %s, %v", i+2, r.Name, r.Error)
			}
		}
	})
}
