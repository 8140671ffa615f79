package worker

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// TestAccounts: on a server with rights, a worker with an operator's token runs the commands of its tenant alone; a viewer
// confirms nothing.
func TestAccounts(t *testing.T) {
	dir, allow := place(t, commandsAllowed("echo done"))
	rights := filepath.Join(dir, "auth.yaml")
	write(t, rights, fmt.Sprintf(`tenants: {billing: , shop: }
principals:
  - {name: ci, token_sha256: %q, grants: [{tenant: billing, role: operator}]}
  - {name: eve, token_sha256: %q, grants: [{tenant: billing, role: viewer}]}
  - {name: other, token_sha256: %q, grants: [{tenant: shop, role: operator}]}
`, access.HashToken("operator"), access.HashToken("viewer"), access.HashToken("stranger")))
	s, err := server.Start(t.Context(), server.Options{Dir: filepath.Join(dir, "data"), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Auth: rights, Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testkit.Patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	connect := func(tenant, token string) (*nats.Conn, *client.Client) {
		nc, _ := clienttest.Connect(t, s.Ready().NATS, client.WithToken(tenant, client.StaticToken(token)))
		return nc, clienttest.New(t, nc, client.Options{Tenant: tenant})
	}
	nc, c := connect("billing", "operator")
	_, viewer := connect("billing", "viewer")
	_, shop := connect("shop", "stranger")
	b := startWorker(t, allow, func(o *Options) { o.Conn, o.Client, o.Tenant = nc, c, "billing" })
	b.conn, b.c = nc, c
	b.put("job", "echo done", nil)
	if run := b.run("job", "succeeded"); run.Result != "done" {
		t.Error(run.Result)
	}
	b.c = shop
	b.put("job", "echo done", nil)
	b.run("job", "dead") // nobody listens in its account

	b.c = c
	b.opts.Client = viewer
	testkit.Refuses(t, fmt.Errorf("%s", b.run("job", "dead").Error), "the server did not confirm the run", "eve may not use runs.extend")
}
