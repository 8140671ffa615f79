package main

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"text/template"

	"github.com/carillon-io/carillon/job"
)

// authNATSCmd prints a configuration for NATS servers of the user's own.
type authNATSCmd struct {
	Tenant   []string `help:"Tenants, separated by commas; each gets a user." required:"" placeholder:"TENANT,…" env:"CARILLON_TENANT"`
	Prefix   string   `help:"First token of the service's NATS subjects, as for serve." default:"carillon" env:"CARILLON_PREFIX"`
	Inbox    string   `help:"Beginning of the inboxes of a tenant's user; a _ and the tenant follow." default:"_INBOX"`
	Accounts bool     `help:"Give each tenant an account of its own, instead of permissions in one account."`
}

// Help is what `carillon auth nats-template --help` says besides the flags.
func (*authNATSCmd) Help() string {
	return `Prints a configuration for nats-server: users for the tenants, and one for Carillon. Passwords are variables of the environment of nats-server. A user of a tenant may use the API in that tenant and receive its runs, dead letters and events.
The identity of a caller is then the tenant of the subject. Add the text to the configuration of your servers.

Examples:

  carillon auth nats-template --tenant billing,shop >carillon.conf
  carillon auth nats-template --tenant billing,shop --accounts >carillon.conf`
}

//go:embed nats_permissions.conf
var natsPermissions string

//go:embed nats_accounts.conf
var natsAccounts string

// Run implements the command.
func (c *authNATSCmd) Run(con *console) error {
	plan, err := c.plan()
	if err != nil {
		return err
	}
	text := natsPermissions
	if c.Accounts {
		text = natsAccounts
	}
	parsed, err := template.New("").Parse(text)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, plan); err != nil {
		return err
	}
	_, err = con.out.Write(out.Bytes())
	return err
}

// natsPlan is what the templates show.
type natsPlan struct {
	Prefix, Password string
	Tenants          []natsTenant
	// ServePrefixes is the value of serve --inbox-prefix that the inboxes need; "" if the server knows them anyway.
	ServePrefixes string
}

// natsTenant is a tenant in the templates.
type natsTenant struct {
	Name, Account, Password, Inbox string
}

// natsOwnUser is the name of Carillon's user in the templates.
const natsOwnUser = "carillon"

// tenantsMax bounds the tenants of one configuration.
const tenantsMax = 1000

// plan checks the flags. Each name becomes a token of a subject, and a part of a name of a variable.
func (c *authNATSCmd) plan() (*natsPlan, error) {
	if !isSubjectToken(c.Prefix) || strings.HasPrefix(c.Prefix, "_") || strings.HasPrefix(c.Prefix, "$") {
		return nil, usagef("--prefix %q cannot be one; want a token of a subject as for serve --prefix, such as carillon", clip(c.Prefix))
	}
	if !isSubjectToken(c.Inbox) || c.Inbox == c.Prefix || strings.HasPrefix(c.Inbox, "$") {
		return nil, usagef("--inbox %q cannot be one; want the beginning of a token of a subject, such as _INBOX", clip(c.Inbox))
	}
	if len(c.Tenant) == 0 {
		return nil, usagef("--tenant is empty; want names of tenants, such as billing,shop")
	}
	if len(c.Tenant) > tenantsMax {
		return nil, usagef("--tenant has %d tenants; want at most %d", len(c.Tenant), tenantsMax)
	}
	p := &natsPlan{Prefix: c.Prefix, Password: "CARILLON_NATS_PASSWORD"}
	used := []string{p.Password}
	for _, name := range c.Tenant {
		if err := job.ValidateTenant(name); err != nil {
			return nil, usagef("--tenant: %v", err)
		}
		// A user of a tenant receives TENANT.>, which must be nothing of Carillon's and no inbox.
		if name == c.Prefix || name == natsOwnUser || strings.HasPrefix(name, "_") || strings.HasPrefix(name, c.Inbox) {
			return nil, usagef("--tenant %s: the subjects %s.> are those of Carillon or inboxes, so no user may have them; choose another name for the tenant", name, name)
		}
		t := natsTenant{Name: name, Account: "TENANT_" + variableOf(name), Password: "CARILLON_NATS_" + variableOf(name), Inbox: c.Inbox + "_" + name}
		if slices.Contains(used, t.Password) {
			return nil, usagef("--tenant %s: another tenant has the same variable %s for its password; print the two apart, and rename one of the variables", name, t.Password)
		}
		used = append(used, t.Password)
		p.Tenants = append(p.Tenants, t)
	}
	if !strings.HasPrefix(c.Inbox, "_INBOX") && !strings.HasPrefix(c.Inbox, "_R_") {
		p.ServePrefixes = c.Inbox + "_"
	}
	return p, nil
}

// isSubjectToken reports whether a text is one token of a subject, and needs no quotes in a configuration.
func isSubjectToken(text string) bool {
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '$'
	})
}

// variableOf returns the part of the name of a variable that stands for a tenant.
func variableOf(tenant string) string {
	return strings.ToUpper(strings.ReplaceAll(tenant, "-", "_"))
}
