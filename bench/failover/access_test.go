package main

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// guardedNode returns a node whose HTTP answers over TLS to the token of the admin alone, and what its clients need.
func guardedNode(t *testing.T, answer http.HandlerFunc) (*node, *access) {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer "+rootToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(w, req)
	}))
	t.Cleanup(s.Close)
	a := &access{roots: x509.NewCertPool()}
	a.roots.AddCert(s.Certificate())
	n := &node{name: "n1", http: strings.TrimPrefix(s.URL, "https://"), guarded: true, asking: &http.Client{Timeout: 20 * time.Second}}
	a.guard(n.asking, site{})
	return n, a
}

// TestGuardedPlan: the guarded topology has its scenarios alone, and no other has them.
func TestGuardedPlan(t *testing.T) {
	for names, want := range map[string][]string{"all": {"rotate-certificates", "hangups"}, shortPlan: {"hangups"}} {
		plan, err := planOf(names, &options{topology: guarded, shards: 1, nodes: nodesMin})
		var got []string
		for _, s := range plan {
			got = append(got, s.name)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", names, got, err, want)
		}
	}
	for name, topology := range map[string]string{"kill9-leader": guarded, "hangups": embedded} {
		if _, err := planOf(name, &options{topology: topology, shards: 1, nodes: nodesMin}); err == nil || !strings.Contains(err.Error(), "is not for the topology "+topology) {
			t.Errorf("%s on %s: %v", name, topology, err)
		}
	}
}

// TestMetricsOfNode reads a metric by its labels, and no other whose name begins with its name.
func TestMetricsOfNode(t *testing.T) {
	n, _ := guardedNode(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "# HELP reloads of files\nreloads{listener=\"http\"} 3\nreloads{listener=\"listen\"} 4\nreloads_total 9\nrefused 1\n")
	})
	got, err := n.metrics("reloads")
	if err != nil || len(got) != 2 || got[`{listener="http"}`] != 3 || got[`{listener="listen"}`] != 4 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = n.metrics("refused"); err != nil || got[""] != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err = n.metrics("absent"); err == nil || !strings.Contains(err.Error(), "there is no absent") {
		t.Errorf("a metric that is not there: %v", err)
	}
}

// TestUndisturbed: a change is refused if a new connection is, or if a client loses its own.
func TestUndisturbed(t *testing.T) {
	n, a := guardedNode(t, func(http.ResponseWriter, *http.Request) {})
	r := &rig{cluster: &cluster{nodes: []*node{n}, addresses: []string{"127.0.0.1:1"}, access: a}, net: &network{}}
	err := r.undisturbed(t.Context(), func(k *knocker) error { return k.await(t.Context(), 1) })
	if err == nil || !strings.Contains(err.Error(), "new connections were refused: n1: ") {
		t.Errorf("a NATS server that is not there: %v", err)
	}
	k := r.knock(t.Context())
	if err := errors.Join(k.overHTTP(n), k.await(t.Context(), 1)); err != nil {
		t.Errorf("HTTP that is there: %v", err)
	}
	_ = k.end()
	a.roots = x509.NewCertPool()
	if err := k.overHTTP(n); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("a server of an unknown authority: %v", err)
	}
}

// TestBadRights: the guest is in the file or not, and the files differ in nothing else.
func TestBadRights(t *testing.T) {
	with, without := strings.Split(rightsText(true), "\n"), strings.Split(rightsText(false), "\n")
	only := slices.DeleteFunc(with, func(line string) bool { return slices.Contains(without, line) })
	if len(only) != 1 || !strings.Contains(only[0], "guest") {
		t.Errorf("the guest adds %q", only)
	}
}

// TestNoAccess: a cluster that is not guarded needs no options.
func TestNoAccess(t *testing.T) {
	if o := (*access)(nil).options(loadToken); o != nil {
		t.Errorf("%d options", len(o))
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r := &rig{cluster: &cluster{}, net: &network{}}
	if err := r.knock(ctx).end(); err != nil {
		t.Errorf("nobody was asked: %v", err)
	}
}
