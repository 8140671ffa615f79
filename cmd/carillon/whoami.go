package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/serverurl"
)

// whoamiCmd prints who the caller is to a server.
type whoamiCmd struct {
	serverFlags
	outputFlag
}

// Help is what `carillon whoami --help` says besides the flags.
func (*whoamiCmd) Help() string {
	return `The server says by which principal of its file of rights it knows the caller, and which role that has in which tenant. A server without a file of rights is open, and says so. Over HTTP each principal may ask; over NATS it needs a role in the tenant of the connection (--tenant).

Examples:

  carillon whoami
  carillon whoami --context prod -o json
  carillon whoami --server https://carillon.example.com:7272 --token-file ci.token`
}

// Run implements the command.
func (c *whoamiCmd) Run(ctx context.Context, con *console) error {
	e, err := c.endpoint()
	if err != nil {
		return err
	}
	r, err := c.connectAs(ctx, "")
	if err != nil {
		return err
	}
	defer r.close()
	w, err := r.Whoami(ctx)
	if err != nil {
		return err
	}
	if c.isDocument() {
		return c.print(con, w)
	}
	return con.printWhoami(&w, e)
}

// printWhoami prints who the caller is, for people. e is the server that was asked, and the tenant of commands.
func (c *console) printWhoami(w *client.Whoami, e *endpoint) error {
	t := c.table()
	t.Row("server", showAnswerer(&w.Server, e))
	t.Row("tenant", cmp.Or(e.Tenant, "default"))
	if w.Open {
		t.Row("you are", "any caller: the server is open, and each caller who reaches it may do everything (serve --auth FILE)")
		return t.Flush()
	}
	t.Row("you are", showCaller(w))
	for _, g := range w.Grants {
		t.Row("role", fmt.Sprintf("%s in %s", g.Role, showTenant(g.Tenant)))
	}
	if w.MoreGrants > 0 {
		t.Row("role", fmt.Sprintf("and %s more", plural(w.MoreGrants, "role")))
	}
	if w.Metrics {
		t.Row("role", "metrics")
	}
	if len(w.Grants) == 0 && !w.Metrics {
		t.Row("role", "none: ask for a grant in the file of rights")
	}
	return t.Flush()
}

// showAnswerer returns the row of the server that has answered.
func showAnswerer(a *client.Answerer, e *endpoint) string {
	address := serverurl.Redact(cmp.Or(e.Server, serverDefault))
	if e.nats != nil {
		address = serverurl.Redact(cmp.Or(e.nats.URL, serverDefault))
	}
	who := a.Role
	if a.Node != "" {
		who += " " + a.Node
	}
	return fmt.Sprintf("%s, %s, carillon %s", address, who, orDash(a.Version))
}

// showCaller returns the principal, and by what the server has recognized it.
func showCaller(w *client.Whoami) string {
	if w.Principal == "" {
		return fmt.Sprintf("%s in the audit log: the permissions of NATS decide, and not the file of rights", w.By)
	}
	return fmt.Sprintf("the principal %s, by %s; %s in the audit log", w.Principal, w.Means, w.By)
}

// showTenant returns the tenant of a grant.
func showTenant(name string) string {
	if name == "*" {
		return "all tenants"
	}
	return name
}
