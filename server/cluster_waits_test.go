package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestCommitsThatWaitAreSaid: the stream of the log accepts nothing, as after an operator has changed its
// subjects. The leader's status warns of that while it lasts.
func TestCommitsThatWaitAreSaid(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a := p.start("a", t.TempDir())
	p.put("x")
	warns := func() bool {
		c := p.info(a).Cluster
		said := slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "commits have waited") })
		if said != (c.LagMS > 0) {
			t.Errorf("lag_ms %v, warnings %q", c.LagMS, c.Warnings)
		}
		return said
	}
	if warns() {
		t.Fatal("the leader warns of commits that are well")
	}
	stream, err := p.js.Stream(t.Context(), "CARILLON_LOG_carillon_0")
	if err != nil {
		t.Fatal(err)
	}
	well := stream.CachedInfo().Config
	ill := well
	ill.Subjects = []string{"elsewhere"}
	if _, err := p.js.UpdateStream(t.Context(), ill); err != nil {
		t.Fatal(err)
	}
	testkit.Until(p.t, "the leader warns", warns)
	if _, err := p.js.UpdateStream(t.Context(), well); err != nil {
		t.Fatal(err)
	}
	testkit.Until(p.t, "the leader warns no more", func() bool { return !warns() })
}
