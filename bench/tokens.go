package bench

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// tokens are the credentials of a server with rights, one operator for each tenant that a workload uses. The nil map is
// that of an open server.
type tokens map[string]string

// rightsFile writes a file of rights with the given tenants, each with an operator, and with more tenants and principals
// that no client uses: what the server looks up is among all of them.
func rightsFile(path string, used []string, moreTenants, morePrincipals int) (tokens, error) {
	var tenants, principals strings.Builder
	grant := func(name, token, tenant string) {
		sum := sha256.Sum256([]byte(token))
		fmt.Fprintf(&principals, "  - {name: %s, token_sha256: %q, grants: [{tenant: %s, role: operator}]}\n", name, hex.EncodeToString(sum[:]), tenant)
	}
	all := tokens{}
	for _, tenant := range used {
		all[tenant] = rand.Text()
		fmt.Fprintf(&tenants, "  %s:\n", tenant)
		grant("bench-"+tenant, all[tenant], tenant)
	}
	for i := range moreTenants {
		fmt.Fprintf(&tenants, "  more-%d:\n", i)
	}
	for i := range morePrincipals {
		grant(fmt.Sprintf("more-%d", i), rand.Text(), fmt.Sprintf("more-%d", i%max(1, moreTenants)))
	}
	return all, os.WriteFile(path, []byte("tenants:\n"+tenants.String()+"principals:\n"+principals.String()), 0o600)
}

// of returns the address of a server with the token of a tenant in it, as a client of NATS takes it.
func (t tokens) of(tenant, address string) string {
	u, err := url.Parse(address)
	if err != nil || t == nil {
		return address
	}
	u.User = url.User(t[tenant])
	return u.String()
}
