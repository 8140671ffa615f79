package access

import (
	"fmt"
	"slices"

	"github.com/carillon-io/carillon/apierr"
)

// Role is what a principal may do with the jobs of a tenant. Each role may do what the roles before it may, except that
// the metrics, which have figures of all tenants, need Metrics itself, or a role in all tenants.
type Role byte

// The roles, from the weakest to the strongest.
const (
	None     Role = iota // the zero value: nothing
	Metrics              // read the metrics; it belongs to no tenant
	Viewer               // read jobs and runs, with values of headers, payloads and paths of URLs masked
	Operator             // besides, put, pause, resume, trigger, backfill, report, retry and cancel
	Admin                // besides, delete, change calendars, and read without masks
)

// roleNames are the roles as the file of rights has them.
var roleNames = [...]string{None: "none", Metrics: "metrics", Viewer: "viewer", Operator: "operator", Admin: "admin"}

// String returns the name of the role as the file of rights has it.
func (r Role) String() string { return roleNames[r] }

// MarshalText returns the name of the role.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the name of a role, none included. It is for messages between nodes; the file of rights cannot grant
// none.
func (r *Role) UnmarshalText(name []byte) error {
	i := slices.Index(roleNames[:], string(name))
	if i < 0 {
		return fmt.Errorf("unknown role; %s", adviceOnRole(string(name)))
	}
	*r = Role(i)
	return nil
}

// parseRole returns the role of a name. A file cannot grant None.
func parseRole(name string) (Role, bool) {
	for r := Metrics; r <= Admin; r++ {
		if roleNames[r] == name {
			return r, true
		}
	}
	return None, false
}

// adviceOnRole says which role an unknown name may mean.
func adviceOnRole(name string) string { return apierr.Advice(name, roleNames[Metrics:], "") }
