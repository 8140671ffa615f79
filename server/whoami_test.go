package server_test

import (
	"reflect"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// TestWhoami: each principal learns its roles and no other's, at each door, and what a change of the file has made of it.
func TestWhoami(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	grants := func(tenant, role string) []client.Grant { return []client.Grant{{Tenant: tenant, Role: role}} }
	for caller, want := range map[string]client.Whoami{
		"metrics": {Grants: []client.Grant{}, Metrics: true}, "stranger": {Grants: grants("default", "admin")}, "viewer": {Grants: grants("billing", "viewer")},
		"operator": {Grants: grants("billing", "operator")}, "admin": {Grants: grants("billing", "admin")}, "cluster": {Grants: grants("*", "admin"), Metrics: true},
	} {
		want.Principal, want.Means, want.By = caller, "token", "token:"+caller
		want.Server = client.Answerer{Role: "leader", Version: "dev"}
		g.knows(caller, g.Ready().HTTP, client.Options{Tenant: "billing"}, want)
		if rank[caller] > 0 {
			g.knows(caller, g.Ready().NATS, client.Options{Tenant: "billing"}, want)
		}
	}
	g.write("cluster")
	g.Reload()
	c := g.dial("viewer", g.Ready().HTTP, client.Options{})
	if _, err := c.Whoami(t.Context()); !client.IsUnauthenticated(err) {
		t.Errorf("a principal that was taken out of the file: %v", err)
	}
}

// TestWhoamiByOtherMeans: the reply names the key of NATS, and the account in which callers are not told apart.
func TestWhoamiByOtherMeans(t *testing.T) {
	t.Parallel()
	g := startGuarded(t)
	public, err := g.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	admin := []client.Grant{{Tenant: "*", Role: "admin"}}
	for account, want := range map[string]client.Whoami{
		"billing": {Principal: "keyed", Means: "nkey", By: "nkey:" + public, Grants: admin, Metrics: true},
		"":        {Means: "nats", By: "nats:billing", Grants: []client.Grant{{Tenant: "billing", Role: "admin"}}},
	} {
		want.Server = client.Answerer{Role: "leader", Version: "dev"}
		nc, err := nats.Connect(g.Ready().NATS, nats.Nkey(public, g.key.Sign), nats.UserInfo(account, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		c, err := client.New(nc, client.Options{Tenant: "billing"})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Whoami(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("in the account %q: %+v, %v; want %+v", account, got, err, want)
		}
	}
}

// dial returns a client with the token of a caller.
func (g *guarded) dial(caller, url string, opts client.Options) *client.Client {
	g.t.Helper()
	opts.Token = client.StaticToken(caller)
	c, err := client.Connect(url, opts)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(c.Close)
	return c
}

// knows compares what a server says of a caller with what is wanted.
func (g *guarded) knows(caller, url string, opts client.Options, want client.Whoami) {
	g.t.Helper()
	if got, err := g.dial(caller, url, opts).Whoami(g.t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		g.t.Errorf("%s at %s: %+v, %v; want %+v", caller, url, got, err, want)
	}
}
