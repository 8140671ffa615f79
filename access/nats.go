package access

import (
	"fmt"
	"slices"
	"strings"
)

// NATS says what a tenant has on the embedded NATS server.
type NATS struct {
	// Storage is how many bytes its streams may keep; 0: it has no JetStream.
	Storage int64
	// Connections bounds its clients on each server of a cluster; 0: the server's default.
	Connections int64
	// IsShared makes its runs go to Carillon's own account, as on a server without rights, while its programs move.
	IsShared bool
}

// connectionsMax bounds what a file can say of connections, above what a process can have.
const connectionsMax = 1 << 20

func readNATS(n *node, what string, to *NATS) error {
	return readMapping(n, what,
		key{name: "storage", read: size(&to.Storage, "storage of "+what)},
		key{name: "connections", read: func(n *node) error {
			err := count(&to.Connections, "connections of "+what)(n)
			if err == nil && to.Connections > connectionsMax {
				err = wrong(n, "connections of %s is %d; want at most %d", what, to.Connections, connectionsMax)
			}
			return err
		}},
		key{name: "shared", read: func(n *node) error {
			if n.kind != kindScalar || n.value != "true" && n.value != "false" {
				return wrong(n, "shared of %s is %s; want true or false", what, kindOf(n))
			}
			to.IsShared = n.value == "true"
			return nil
		}})
}

// Place is where a client of the embedded NATS server belongs: to a tenant, in a role. The zero value is Carillon's own
// account, in which all subjects are; only cluster admins have it.
type Place struct {
	Tenant string
	Role   Role
}

// PlaceOf returns the place of a caller on the embedded NATS server. chosen is the tenant that it names; "" if it names
// none. The error says what would be right.
func (t *Table) PlaceOf(w Who, chosen string) (Place, error) {
	switch {
	case w.Principal == nil:
		return Place{}, fmt.Errorf("it has no credentials that this server knows")
	case chosen == "" && w.IsClusterAdmin():
		return Place{}, nil
	case chosen == "":
		return t.onlyPlace(w)
	case t.tenants[chosen] == nil:
		// It is not repeated: clients put tokens there.
		return Place{}, fmt.Errorf("%s gives a user name of %d bytes that is no tenant under tenants in the file of rights; want one that is, no user name, or HTTP", w.By(), len(chosen))
	}
	role := w.RoleIn(chosen)
	if role < Viewer {
		return Place{}, fmt.Errorf("%s gives the user name %s, and has no role in the tenant of that name; want a tenant in which it has one", w.By(), chosen)
	}
	return Place{chosen, role}, nil
}

// onlyPlace returns the place of a caller that names no tenant: the one tenant in which it has a role.
func (t *Table) onlyPlace(w Who) (Place, error) {
	tenants := w.tenants()
	switch {
	case len(tenants) == 0:
		return Place{}, fmt.Errorf("%s has no role in a tenant", w.By())
	case len(tenants) > 1 || tenants[0] == AnyTenant:
		return Place{}, fmt.Errorf("%s has a role in several tenants, and gives no user name; want the tenant as the user name", w.By())
	}
	return Place{tenants[0], w.RoleIn(tenants[0])}, nil
}

// Named returns the caller of a name that By returned, as a server has recognized it at the start of its connection. If no
// principal has it, there is only a Refusal, which says so.
func (t *Table) Named(by string) (w Who) {
	means, name, _ := strings.Cut(by, ":")
	switch means {
	case "nkey":
		w = t.WhoseNKey(name)
	case "token":
		w = t.whoIs(t.byName[name], means)
	}
	if w.Principal == nil && name != "" {
		w.Refusal = fmt.Sprintf("the node that has to answer has no principal for %s in its file of rights, and the node that the client is connected to has or had one; give all nodes the same file (--auth)", by)
	}
	return w
}

// tenants returns the tenants in which a principal has a role, sorted, with AnyTenant as one of them.
func (p *Principal) tenants() (names []string) {
	for name, role := range p.roles {
		if role >= Viewer {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
