package shard

import (
	"testing"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/replication"
)

// TestFateByWhatTheClusterHas: data that the cluster has is not kept; what it lacks is, and of what cannot be compared one
// set.
func TestFateByWhatTheClusterHas(t *testing.T) {
	for old, want := range map[replication.Old]datadir.Fate{replication.OldPart: datadir.Removed, replication.OldUnknown: datadir.Behind, replication.OldForeign: datadir.Replaced} {
		if got := fateFor(old); got != want {
			t.Errorf("%d: %d, want %d", old, got, want)
		}
	}
}
