package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/carillon-io/carillon/client"
)

// TestApplyAgain: a job whose shard has no leader for a moment is put again. Where the first put took effect all the same, the second
// one finds the job as it is wanted; a job that another caller has changed meanwhile is left alone.
func TestApplyAgain(t *testing.T) {
	t.Parallel()
	wanted := client.Job{Name: "a", Schedule: "@daily", Target: client.Target{Kind: "nats", Subject: "x"}}
	foreign := wanted
	foreign.Schedule = "@hourly"
	for name, c := range map[string]struct {
		second int         // status of the second put
		has    *client.Job // what the server has then
		want   error
	}{
		"nothing had changed":       {http.StatusOK, nil, nil},
		"it had taken effect":       {http.StatusPreconditionFailed, &wanted, nil},
		"another caller changed it": {http.StatusPreconditionFailed, &foreign, errChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			puts := 0
			s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
				rw.Header().Set("Content-Type", "application/json")
				switch {
				case req.Method == http.MethodGet && (c.has == nil || puts == 0): // when it connects
					rw.WriteHeader(http.StatusNotFound)
				case req.Method == http.MethodGet:
					body, _ := json.Marshal(map[string]any{"job": client.JobInfo{Job: *c.has, Version: 5}})
					_, _ = rw.Write(body)
				case puts == 0:
					puts++
					rw.WriteHeader(http.StatusServiceUnavailable)
					_, _ = io.WriteString(rw, `{"error": {"code": "unavailable", "message": "shard 0 has no leader at the moment; nothing has changed, ask again later"}}`)
				case c.second == http.StatusOK:
					puts++
					_, _ = io.WriteString(rw, `{"job": {"id": "1", "name": "a", "version": 5}, "created": false}`)
				default:
					puts++
					rw.WriteHeader(c.second)
					_, _ = io.WriteString(rw, `{"error": {"code": "version_conflict", "message": "it has version 5"}}`)
				}
			}))
			defer s.Close()
			r, err := client.Connect(s.URL, client.Options{NoRetry: true})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			step := applyStep{name: "a", action: actionUpdate, wanted: wanted, version: 4}
			if err := step.carryOut(t.Context(), &remote{Client: r}, false); !errors.Is(err, c.want) || c.want == nil && err != nil || puts != 2 {
				t.Errorf("%v after %d puts; want %v", err, puts, c.want)
			}
		})
	}
}
