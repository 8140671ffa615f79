package bus

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// TestEachTenantHasAConnection: tenants keep their connections, a new one gets one that nobody has any more, or a new one,
// and share them evenly when there are as many as there may be.
func TestEachTenantHasAConnection(t *testing.T) {
	b := openTenants(t, &testkit.Buffer{})
	ask := func(tenants ...string) map[string]*nats.Conn {
		t.Helper()
		conns, err := b.AccountConns(tenants)
		if err != nil || len(conns) != len(tenants) {
			t.Fatalf("%d connections, %v", len(conns), err)
		}
		return conns
	}
	first := ask("a", "b")
	if first["a"] == first["b"] || first["a"] == b.API() {
		t.Error("two tenants share a connection while there may be more")
	}
	if second := ask("a", "c"); second["a"] != first["a"] || second["c"] != first["b"] {
		t.Error("a tenant has another connection, or that of a tenant that is gone is not used")
	}
	var many []string
	for i := range 2*accountConnsMax + 1 {
		many = append(many, fmt.Sprint("t", i))
	}
	users := make(map[*nats.Conn]int)
	for _, nc := range ask(many...) {
		users[nc]++
	}
	for _, n := range users {
		if len(users) != accountConnsMax || n < 2 || n > 3 {
			t.Fatalf("%d tenants have %d connections, one of them with %d tenants", len(many), len(users), n)
		}
	}
	b.Close()
	for nc := range users {
		if !nc.IsClosed() {
			t.Error("a connection is open after close")
		}
	}
}
