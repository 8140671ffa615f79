package api

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/carillon-io/carillon/job"
)

// TestForwardedToAnOlderLeader: with one shard, what a node says about a request has no member that the release before
// shards does not know. That one refuses unknown members, and leads until it is upgraded.
func TestForwardedToAnOlderLeader(t *testing.T) {
	about := forwardedOf(&Request{Host: "10.0.0.1", Asker: job.Actor{By: "ann", From: "http"}})
	about.TimeoutMS = 1000
	got, err := json.Marshal(about)
	if want := `{"by":"ann","from":"http","host":"10.0.0.1","timeout_ms":1000}`; err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
