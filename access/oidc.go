package access

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/smallfile"
)

// OIDC says which issuer of OpenID Connect says who a person is. The zero value means that there is none.
type OIDC struct {
	Issuer   string // URL, as the tokens name it
	ClientID string // for which tokens must be made
	// GroupsClaim is the claim with the groups of a person: a list of texts, or one text. Default "groups".
	GroupsClaim string
	// NameClaim is the claim by which the audit log names a person. Default "sub", which the issuer never gives to
	// another one.
	NameClaim string
	// SecretFile is the absolute path of the file with the secret of the client; "": the client is public.
	SecretFile string
	// RedirectURL is where the issuer sends a browser back to; "": the host that the browser asked for.
	RedirectURL string
}

// CallbackPath is the path of a RedirectURL.
const CallbackPath = "/sign-in/callback"

// readOIDC reads the issuer.
func (t *Table) readOIDC(n *node) error {
	o := &t.oidc
	o.GroupsClaim, o.NameClaim = "groups", "sub"
	err := readMapping(n, "oidc",
		key{name: "issuer", to: &o.Issuer, what: "issuer of oidc"},
		key{name: "client_id", to: &o.ClientID, what: "client_id of oidc"},
		key{name: "groups_claim", to: &o.GroupsClaim, what: "groups_claim of oidc"},
		key{name: "name_claim", to: &o.NameClaim, what: "name_claim of oidc"},
		key{name: "client_secret_file", to: &o.SecretFile, what: "client_secret_file of oidc"},
		key{name: "redirect_url", to: &o.RedirectURL, what: "redirect_url of oidc"})
	if err != nil {
		return err
	}
	if u, ok := secureURL(o.Issuer); !ok || u.RawQuery != "" {
		return wrong(n, "the issuer of oidc cannot be used; want its https URL as its tokens name it, without a query and a password, such as https://id.example.com")
	}
	if o.ClientID == "" {
		return wrong(n, "oidc has no client_id; want the one under which the issuer knows Carillon: tokens for others are refused")
	}
	if o.SecretFile != "" && !filepath.IsAbs(o.SecretFile) {
		return wrong(n, "client_secret_file of oidc is %q; want an absolute path", apierr.Clip(o.SecretFile))
	}
	if u, ok := secureURL(o.RedirectURL); o.RedirectURL != "" && (!ok || u.Path != CallbackPath || u.RawQuery != "") {
		return wrong(n, "redirect_url of oidc is %q; want the https URL of the pages with the path %s, such as https://carillon.example.com%s", apierr.Clip(o.RedirectURL), CallbackPath, CallbackPath)
	}
	return nil
}

// secureURL parses a URL of https, or of http to this machine, which no network can read.
func secureURL(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	if err != nil || len(text) > urlBytesMax || u.Host == "" || u.User != nil || strings.Contains(text, "#") {
		return nil, false
	}
	return u, u.Scheme == "https" || u.Scheme == "http" && job.IsThisMachine(u.Hostname())
}

const urlBytesMax = 2048

// groupsMax bounds the principals to which the groups of one person lead, so that their names fit into a message
// between nodes.
const groupsMax = 30

// addGroup lets those with a group of the issuer be a principal.
func (t *Table) addGroup(n *node, p *Principal, group string) error {
	if group == "" {
		return nil
	}
	if t.oidc.Issuer == "" {
		return wrong(n, "%s has an oidc_group, and the file has no oidc; want the issuer and the client_id there", p.Name)
	}
	t.byGroup[group] = append(t.byGroup[group], p)
	p.shown |= byGroup
	return nil
}

// OIDC returns the issuer; the zero value if the file has none, and for nil.
func (t *Table) OIDC() OIDC {
	if t == nil {
		return OIDC{}
	}
	return t.oidc
}

// WhosePerson returns the caller whom the issuer names, with groups. Each principal with one of the groups adds its
// grants. The zero value, with the reason, is returned if no principal has any.
func (t *Table) WhosePerson(name string, groups []string) Who {
	var found []*Principal
	for _, group := range groups {
		for _, p := range t.byGroup[group] {
			if !slices.Contains(found, p) {
				found = append(found, p)
			}
			if len(found) > groupsMax {
				return Who{Refusal: "the groups of the person lead to more principals than one may be"}
			}
		}
	}
	if len(found) == 0 {
		return Who{Refusal: "the issuer knows the person, and no principal of the file of rights has a group of theirs"}
	}
	return Who{Principal: union(found), Means: "oidc:" + name, by: t}
}

// KnownGroups returns those of some groups that principals have.
func (t *Table) KnownGroups(groups []string) (known []string) {
	for _, group := range groups {
		if t.byGroup[group] != nil && !slices.Contains(known, group) {
			known = append(known, group)
		}
	}
	return known
}

// nameSeparator stands between the names of principals that one person is. No name contains it.
const nameSeparator = ","

// union returns a principal with the grants of several; the only one itself.
func union(of []*Principal) *Principal {
	if len(of) == 1 {
		return of[0]
	}
	all := &Principal{roles: make(map[string]Role)}
	names := make([]string, 0, len(of))
	for _, p := range of {
		names = append(names, p.Name)
		all.isMetrics = all.isMetrics || p.isMetrics
		for tenant, role := range p.roles {
			all.grant(tenant, role)
		}
	}
	slices.Sort(names)
	all.Name = strings.Join(names, nameSeparator)
	return all
}

// named returns the principal of a name, as [Principal] has it, also of several, as far as callers can be them by some means;
// nil if there is none.
func (t *Table) named(name, means string) *Principal {
	var found []*Principal
	for one := range strings.SplitSeq(name, nameSeparator) {
		if p := t.byName[one]; p != nil && p.isShownBy(means) && len(found) <= groupsMax {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return union(found)
}

// SecretBytesMax bounds the file with the secret of a client, in bytes.
const SecretBytesMax = 4 << 10

// CheckSecretFile returns an error that says what would be right if SecretFile cannot be used now. The server itself reads
// the file at each sign-in. Without SecretFile it returns nil.
func (o OIDC) CheckSecretFile() error {
	if o.SecretFile == "" {
		return nil
	}
	text, err := smallfile.ReadSecret(o.SecretFile, SecretBytesMax)
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = errors.New("it is empty; want the secret of the client")
	}
	if err != nil {
		return fmt.Errorf("client_secret_file of oidc, %s: %w", o.SecretFile, plainPathError(err))
	}
	return nil
}
