package access

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// Bounds of the file of rights.
const (
	// BytesMax is the largest size of the file: ten thousand principals need about two million bytes.
	BytesMax = 16 << 20
	// PrincipalsMax and TenantsMax are far above any real file. They bound the time that a reload takes.
	PrincipalsMax = 100_000
	TenantsMax    = 10_000
)

// tenantDefault is the tenant of a request that names none. It exists without being listed.
const tenantDefault = "default"

// Parse reads a file of rights. An error names the line of the file, unless the file as a whole is too large.
func Parse(text []byte) (*Table, error) {
	if len(text) > BytesMax {
		return nil, fmt.Errorf("it has %d bytes; want at most %d, which is enough for %d principals", len(text), BytesMax, PrincipalsMax/2)
	}
	root, err := readDocument(text)
	if err != nil {
		return nil, err
	}
	t := newTable()
	if err := t.read(root); err != nil {
		return nil, err
	}
	return t, nil
}

// read fills the table. Tenants and the issuer are read before the principals that refer to them, whatever their order in
// the file.
func (t *Table) read(n *node) error {
	var principals *node
	err := readMapping(n, "the file",
		key{name: "tenants", read: t.readTenants},
		key{name: "principals", read: func(n *node) error { principals = n; return nil }},
		key{name: "oidc", read: t.readOIDC})
	if err != nil || principals == nil {
		return err
	}
	return eachItem(principals, "principals", t.readPrincipal)
}

func (t *Table) readTenants(n *node) error {
	return eachKey(n, "tenants", func(name, value *node) error {
		if job.ValidateTenant(name.value) != nil {
			return wrong(name, "%q is no name of a tenant; want 1 to %d letters, digits, - and _", apierr.Clip(name.value), job.TenantBytesMax)
		}
		tenant := new(Tenant)
		if t.tenants[name.value] = tenant; len(t.tenants) > TenantsMax {
			return wrong(name, "the file has more than %d tenants", TenantsMax)
		}
		return readTenant(tenant, "tenant "+name.value)(value)
	})
}

func (t *Table) readPrincipal(n *node) error {
	p := &Principal{roles: make(map[string]Role), line: n.line}
	var hash, group, cert string
	err := readMapping(n, "a principal",
		key{name: "name", to: &p.Name, what: "the name of a principal"},
		key{name: "token_sha256", to: &hash, what: "token_sha256"},
		key{name: "nkey", to: &p.NKey, what: "nkey"},
		key{name: "oidc_group", to: &group, what: "oidc_group"},
		key{name: "cert", to: &cert, what: "cert"},
		key{name: "grants", read: func(n *node) error {
			return eachItem(n, "grants", func(n *node) error { return t.readGrant(n, p) })
		}})
	if err != nil {
		return err
	}
	if err := ValidatePrincipal(p.Name); err != nil {
		return wrong(n, "%v", err)
	}
	if err := t.add(n, p, hash); err != nil {
		return err
	}
	if err := t.addCert(n, p, cert); err != nil {
		return err
	}
	return t.addGroup(n, p, group)
}

// nameBytesMax bounds the name of a principal, so that it fits into the audit log with its means.
const nameBytesMax = 64

// ValidatePrincipal returns an error that says what would be right if a text cannot be the name of a principal.
func ValidatePrincipal(name string) error {
	if name == "" || len(name) > nameBytesMax || strings.ContainsFunc(name, isNoNameRune) {
		return fmt.Errorf("a principal cannot have the name %q; want 1 to %d letters, digits, and . _ - @", apierr.Clip(name), nameBytesMax)
	}
	return nil
}

func isNoNameRune(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-@", r)
}

func (t *Table) readGrant(n *node, p *Principal) error {
	var tenant, name string
	err := readMapping(n, "a grant",
		key{name: "tenant", to: &tenant, what: "the tenant of a grant"},
		key{name: "role", to: &name, what: "the role of a grant"})
	if err != nil {
		return err
	}
	role, ok := parseRole(name)
	switch {
	case name == "":
		return wrong(n, "a grant has no role; %s", adviceOnRole(""))
	case !ok:
		return wrong(n, "the role %q of a grant is unknown; %s", apierr.Clip(name), adviceOnRole(name))
	case role == Metrics && tenant != "":
		return wrong(n, "the role metrics belongs to no tenant; leave the tenant %q out", apierr.Clip(tenant))
	case role != Metrics && tenant == "":
		return wrong(n, "a grant of the role %s names no tenant; want a tenant, or \"*\" for all", name)
	case role != Metrics && tenant != AnyTenant && t.tenants[tenant] == nil:
		return wrong(n, "a grant names the tenant %q, which tenants does not list; list it, or want \"*\" for all", apierr.Clip(tenant))
	}
	p.grant(tenant, role)
	return nil
}

// emptyHash is the hash of an empty token.
var emptyHash = sha256.Sum256(nil)

// add adds a principal to the table, and refuses what would make two principals the same.
func (t *Table) add(n *node, p *Principal, hash string) error {
	if first := t.byName[p.Name]; first != nil {
		return wrong(n, "the principal %s stands on line %d already", p.Name, first.line)
	}
	if first := t.byFolded[strings.ToLower(p.Name)]; first != nil {
		return wrong(n, "the principals %s and %s (line %d) differ only in case; want another name", p.Name, first.Name, first.line)
	}
	t.byFolded[strings.ToLower(p.Name)] = p
	if len(t.byName) >= PrincipalsMax {
		return wrong(n, "the file has more than %d principals", PrincipalsMax)
	}
	t.byName[p.Name] = p
	if hash != "" {
		var sum [32]byte
		if len(hash) != 64 || !isHex(hash, sum[:]) {
			return wrong(n, "token_sha256 of %s is no SHA-256; want the 64 hexadecimal digits that `carillon auth token %s` prints", p.Name, p.Name)
		}
		if sum == emptyHash {
			return wrong(n, "token_sha256 of %s is the hash of an empty text, which is no secret; want the 64 hexadecimal digits that `carillon auth token %s` prints", p.Name, p.Name)
		}
		if first := t.byToken[sum]; first != nil {
			return wrong(n, "%s and %s (line %d) have the same token; each principal needs its own", p.Name, first.Name, first.line)
		}
		t.byToken[sum] = p
		p.shown |= byToken
	}
	if p.NKey != "" {
		if !nkeys.IsValidPublicUserKey(p.NKey) {
			return wrong(n, "nkey of %s is no public key of a NATS user; want 56 capital letters and digits that begin with U", p.Name)
		}
		if first := t.byNKey[p.NKey]; first != nil {
			return wrong(n, "%s and %s (line %d) have the same nkey; each principal needs its own", p.Name, first.Name, first.line)
		}
		t.byNKey[p.NKey] = p
		p.shown |= byNKey
	}
	return nil
}

func isHex(text string, to []byte) bool {
	_, err := hex.Decode(to, []byte(text))
	return err == nil
}
