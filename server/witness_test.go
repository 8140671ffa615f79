package server

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/datadir"

	"github.com/carillon-io/carillon/testkit"
)

// TestWitness starts a witness and two nodes: the witness is a member as they are, reports itself as a witness,
// and has neither a log nor a store.
func TestWitness(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	nodes[1].Witness, nodes[1].Node, nodes[1].Insecure = true, "", true
	w, _ := startWitness(t, nodes[1], nodes[0], nodes[2])
	if r := w.Ready(); r.Role != "witness" || r.Jobs != 0 || !strings.HasPrefix(r.NATS, "nats://127.0.0.1:") {
		t.Errorf("the witness is ready as %+v", r)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		testkit.Retry(t, path, func(ctx context.Context) error { return get(ctx, w.Ready().HTTP+path) })
	}
	if page := testkit.Get(t, w.Ready().HTTP+"/metrics"); !strings.Contains(page.Body, "\ncarillon_insecure 1\n") {
		t.Errorf("%d %.300s", page.Status, page.Body)
	}
	if got := statusFor(t, w.Ready().HTTP+"/metrics", "evil.example.com"); got != http.StatusMisdirectedRequest {
		t.Errorf("metrics for a name of another site: %d", got)
	}
	if r := testkit.Get(t, w.Ready().HTTP+"/readyz"); r.Status != http.StatusOK || r.Body != `{"ready":true,"role":"witness"}`+"\n" {
		t.Errorf("/readyz: %d %s", r.Status, r.Body)
	}
	for path, want := range map[string]int{"//metrics": http.StatusNotFound, "/metrics/": http.StatusNotFound, "/api/v1/status": http.StatusNotFound} {
		if r := testkit.Get(t, w.Ready().HTTP+path); r.Status != want {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
	for _, name := range []string{datadir.ShardsName, datadir.PartsName} {
		if _, err := os.Stat(filepath.Join(nodes[1].Dir, name)); err == nil {
			t.Errorf("a witness has made %s", name)
		}
	}
	if id, err := datadir.ReadIdentity(nodes[1].Dir); err != nil || !strings.Contains(id.Node, "-") {
		t.Errorf("the witness has no name of its own: %+v, %v", id, err)
	}
	closing, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := w.Close(closing); err != nil {
		t.Error(err)
	}
}
