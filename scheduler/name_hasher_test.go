package scheduler

import "testing"

func TestNameHashTellsTenantsApart(t *testing.T) {
	h := newNameHasher()
	if h.hash("a", "bc") == h.hash("ab", "c") {
		t.Error("tenant and name run together")
	}
}
