package browser

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/carillon-io/carillon/bench/ports"
	"github.com/carillon-io/carillon/server"
)

// startNodes starts two nodes and a witness side by side, and returns the nodes once one of them leads and the other stands by.
func startNodes(t *testing.T) []*server.Server {
	t.Helper()
	routes, err := ports.Free(3)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", "b", "w"}
	servers, errs := make([]*server.Server, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			servers[i], errs[i] = server.Start(t.Context(), server.Options{
				Dir: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler),
				ClusterName: "prod", Node: name, ClusterListen: routes[i], Routes: routes, ClusterPassword: "tower", Witness: name == "w",
			})
		})
	}
	all.Wait()
	t.Cleanup(func() {
		var ends sync.WaitGroup
		for _, s := range servers {
			if s != nil {
				ends.Go(func() { _ = s.Close(context.Background()) })
			}
		}
		ends.Wait()
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return servers[:2]
}

// TestNodes hands the leadership over on the page of the nodes, and watches there how it goes.
func TestNodes(t *testing.T) {
	nodes := startNodes(t)
	p := visitor(t, nodes[0].Ready().HTTP)
	p.opens("/nodes")
	p.rows("#node-list tr[data-node]", 2)
	p.reads("#node-list", "prod")
	p.sees(shown("#node-list [data-confirm=handover]"))
	leads := func() string {
		name, err := Eval[string](p.tab, `document.querySelector("tr[data-node]:has(.pill.good)")?.dataset.node ?? ""`)
		p.must(err)
		return name
	}
	before := leads()
	if before == "" {
		t.Fatal("no node is shown as the leader")
	}
	p.asks("handover")
	p.confirms("handover")
	p.sees(`document.querySelector("tr[data-node]:has(.pill.good)")?.dataset.node !== ` + quote(before) + ` && ` + count("tr[data-node]:has(.pill.good)") + ` === 1`)

	// The page of the other node says who leads too, and every page of a standby that it stands by.
	for i, node := range nodes {
		p := visitor(t, node.Ready().HTTP)
		p.opens("/nodes")
		p.sees(count("tr[data-node]:has(.pill.good)") + " === 1")
		if []string{"a", "b"}[i] == before {
			p.reads(".banner", "stands by")
		}
		for _, dark := range []bool{false, true} {
			view := Phone
			view.Dark = dark
			p.must(p.tab.Look(view))
			p.inspects(EyeContrast)
			p.inspects(EyeOverflow)
		}
	}
}
