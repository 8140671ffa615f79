package server_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestLoadingIsTold: a start that loads many jobs reports its progress.
func TestLoadingIsTold(t *testing.T) {
	testkit.NotUnderRace(t, "one goroutine loads the jobs, as at each start")
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir)
	_, api := connect(t, s)
	const jobs = 33_000
	totals, err := api.PutAll(t.Context(), func(yield func(client.Job) bool) {
		for i := range jobs {
			if !yield(client.Job{Name: fmt.Sprint(i), Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "out"}}) {
				return
			}
		}
	}, nil)
	if err != nil || totals.Accepted != jobs {
		t.Fatalf("%+v, %v", totals, err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var told []server.Recovery
	o := options(dir)
	o.OnRecovery = func(r server.Recovery) { told = append(told, r) }
	if s, err = server.Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if len(told) != 1 || told[0].Stage != server.LoadingJobs || told[0].Done < jobs/2 || told[0].All != 0 {
		t.Errorf("told %v", told)
	}
}
