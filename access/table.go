package access

import (
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/carillon-io/carillon/job"
)

// Table is a file of rights that was read and found right. It does not change, and is safe for concurrent use.
type Table struct {
	tenants  map[string]*Tenant // those that grants may name
	byName   map[string]*Principal
	byFolded map[string]*Principal // by the name in lower case
	byToken  map[[sha256.Size]byte]*Principal
	byNKey   map[string]*Principal
	byCert   map[string]*Principal   // by a name of the SAN
	byGroup  map[string][]*Principal // of the issuer
	oidc     OIDC
	readAt   time.Time // when a Keeper read it; zero: none did
}

func newTable() *Table {
	return &Table{
		tenants: map[string]*Tenant{tenantDefault: {}}, byName: make(map[string]*Principal), byFolded: make(map[string]*Principal),
		byToken: make(map[[sha256.Size]byte]*Principal), byNKey: make(map[string]*Principal),
		byCert: make(map[string]*Principal), byGroup: make(map[string][]*Principal),
	}
}

// WhoseToken returns the caller who shows a token; the zero value if no principal has it. Only hashes are compared, so the
// time of a comparison tells nothing of a token.
func (t *Table) WhoseToken(token string) Who {
	if token == "" || len(token) > tokenBytesMax {
		return Who{}
	}
	return t.WhoseHash(sha256.Sum256([]byte(token)))
}

// WhoseHash returns the caller whose token has a hash; the zero value if no principal has it. The hash itself is no token:
// only a way in that has seen the token may use it.
func (t *Table) WhoseHash(hash [sha256.Size]byte) Who { return t.whoIs(t.byToken[hash], "token") }

// WhoseNKey returns the caller who has shown to have the private key of a NATS user; the zero value if no principal has
// it.
func (t *Table) WhoseNKey(public string) Who {
	p := t.byNKey[public]
	if p == nil {
		return Who{}
	}
	return Who{Principal: p, Means: "nkey:" + public, by: t}
}

// WhoHas returns the caller with a token or the key of a NATS user; the zero value if no principal has it.
func (t *Table) WhoHas(token, nkey string) Who {
	if nkey != "" {
		return t.WhoseNKey(nkey)
	}
	return t.WhoseToken(token)
}

func (t *Table) whoIs(p *Principal, means string) Who {
	if p == nil {
		return Who{}
	}
	return Who{Principal: p, Means: means + ":" + p.Name, by: t}
}

// Principal returns the principal of a name; nil if there is none.
func (t *Table) Principal(name string) *Principal { return t.byName[name] }

// Tenant returns what the file says of a tenant. One that it does not list has no targets, so that a tenant that is taken
// out of the file does not gain what its list withheld. The result must not be changed.
func (t *Table) Tenant(name string) Tenant {
	if one := t.tenants[name]; one != nil {
		return *one
	}
	return Tenant{Targets: job.Targets{IsUnlisted: true}}
}

// Quotas returns the quotas of the tenants that the file lists, by name.
func (t *Table) Quotas() map[string]Quota {
	quotas := make(map[string]Quota, len(t.tenants))
	for name, one := range t.tenants {
		quotas[name] = one.Quota
	}
	return quotas
}

// Lists reports whether the file lists a tenant.
func (t *Table) Lists(tenant string) bool { return t.tenants[tenant] != nil }

// Tenants returns the number of tenants, with the default one.
func (t *Table) Tenants() int { return len(t.tenants) }

// TenantNames returns the names of the tenants, with the default one, sorted.
func (t *Table) TenantNames() []string { return slices.Sorted(maps.Keys(t.tenants)) }

// errNobody refuses a file such as one that was cut after its tenants.
var errNobody = errors.New("the file has no principals, so that no caller could do anything; want one at least, such as an admin of all tenants")

// CheckPrincipals is a check for [Open] of a server that recognizes its callers by the file alone: there is a principal. A
// server at a NATS server of someone else needs none, because that one has let its callers in.
func (t *Table) CheckPrincipals() error {
	if t.Principals() == 0 {
		return errNobody
	}
	return nil
}

// Principals returns the number of principals.
func (t *Table) Principals() int { return len(t.byName) }
