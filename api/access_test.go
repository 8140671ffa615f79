package api

import (
	"slices"
	"testing"

	"github.com/carillon-io/carillon/access"
)

// TestEachVerbNeedsARole: a verb that package access does not know would be refused to every caller.
func TestEachVerbNeedsARole(t *testing.T) {
	known := access.Verbs()
	for i := range verbs {
		if !slices.Contains(known, verbs[i].name) {
			t.Errorf("package access does not say which role %s needs", verbs[i].name)
		}
	}
}
