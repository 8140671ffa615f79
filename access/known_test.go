package access

import (
	"strings"
	"testing"
)

// TestKnownWithoutRights: a node without a file of rights permits a caller whom another node has recognized no more than that
// one does, and names it in a refusal.
func TestKnownWithoutRights(t *testing.T) {
	t.Parallel()
	var none *Keeper
	viewer := Viewer
	w := none.Known("ann", "token:ann")
	w.Most = &viewer
	if err := none.Authorize(w, "billing", "jobs.get"); err != nil {
		t.Error(err)
	}
	if err := none.Authorize(w, "billing", CredentialsVerb); err == nil || !strings.HasPrefix(err.Error(), "token:ann may not use credentials.read in the tenant billing") {
		t.Errorf("a viewer: %v", err)
	}
}
