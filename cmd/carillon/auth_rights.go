package main

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/smallfile"
)

// authTokenCmd draws a token.
type authTokenCmd struct {
	Name string `arg:"" help:"Name of the principal, as the audit log shows it."`
	Out  string `help:"Write the token to this new file, which only you can read, instead of stdout." placeholder:"FILE"`
}

// Help is what `carillon auth token --help` says besides the flags.
func (*authTokenCmd) Help() string {
	return `The token is shown once: in the file of --out, which must not exist and which only you can read, or else on stdout, for a pipe. The line for the file of rights, which has only the token's hash, goes to stderr.

Examples:

  carillon auth token ci --out ci.token
  carillon auth token ci | carillon login --server https://carillon.example.com:7272`
}

// Run implements the command.
func (c *authTokenCmd) Run(con *console) error {
	if err := access.ValidatePrincipal(c.Name); err != nil {
		return usagef("%v", err)
	}
	token, hash := access.NewToken()
	if err := c.write(con, token); err != nil {
		return err
	}
	_, err := fmt.Fprintf(con.err, "Keep the token: it cannot be shown again. For the file of rights, below principals:\n\n  - {name: %s, token_sha256: %q, grants: [{tenant: default, role: operator}]}\n", c.Name, hash)
	return err
}

// write writes the token to where it is wanted. If that is a file that others can read, it says so: the shell has made it.
func (c *authTokenCmd) write(con *console, token string) error {
	if c.Out != "" {
		return writeNew([]authFile{{c.Out, []byte(token + "\n"), authKeyMode}})
	}
	if f, ok := con.out.(*os.File); ok {
		if about, err := f.Stat(); err == nil && about.Mode().IsRegular() && smallfile.NotForOthers(about) != nil {
			con.notef("carillon: other users of this machine can read the file with the token: use --out FILE\n")
		}
	}
	_, err := fmt.Fprintln(con.out, token)
	return err
}

// authCheckCmd checks a file of rights.
type authCheckCmd struct {
	File string `arg:"" help:"File of rights, as for serve --auth." type:"path"`
}

// Help is what `carillon auth check --help` says besides the flags.
func (*authCheckCmd) Help() string {
	return `Example; exit status 2 if the file is bad:

  carillon auth check /etc/carillon/auth.yaml`
}

// Run implements the command.
func (c *authCheckCmd) Run(con *console) error {
	table, err := readRights(c.File)
	if err != nil {
		return err
	}
	if err := table.OIDC().CheckSecretFile(); err != nil {
		return usagef("%s: %v", c.File, err)
	}
	_, err = fmt.Fprintf(con.out, "%s is good: %d principals, %d tenants\n", c.File, table.Principals(), table.Tenants())
	return err
}

// authCanCmd says whether a principal may do something.
type authCanCmd struct {
	Principal string `arg:"" help:"Name of the principal."`
	Verb      string `arg:"" help:"What it would do: a verb of the API such as jobs.put, or backup, handover, metrics."`
	Tenant    string `help:"Tenant of the jobs." default:"default" env:"CARILLON_TENANT"`
	Auth      string `help:"File of rights." placeholder:"FILE" type:"path" required:"" env:"CARILLON_AUTH"`
}

// Help is what `carillon auth can --help` says besides the flags.
func (*authCanCmd) Help() string {
	return `Example:

  carillon auth can ci jobs.delete --tenant billing --auth /etc/carillon/auth.yaml`
}

// Run implements the command.
func (c *authCanCmd) Run(con *console) error {
	table, err := readRights(c.Auth)
	if err != nil {
		return err
	}
	if !slices.Contains(access.Verbs(), c.Verb) {
		advice := apierr.Advice(c.Verb, access.Verbs(), "")
		if all := strings.Join(access.Verbs(), ", "); !strings.HasSuffix(advice, all) {
			advice += " The verbs are " + all
		}
		return usagef("the verb %q is unknown; %s", apierr.Clip(c.Verb), advice)
	}
	if c.Tenant != access.AnyTenant && job.ValidateTenant(c.Tenant) != nil {
		return usagef("%q is no name of a tenant; want 1 to %d letters, digits, - and _, or \"*\" for all tenants", apierr.Clip(c.Tenant), job.TenantBytesMax)
	}
	p := table.Principal(c.Principal)
	if p == nil {
		return usagef("the file has no principal %q", c.Principal)
	}
	answer, status := "yes", exitDone
	if !p.Can(c.Verb, c.Tenant) {
		answer, status = "no", exitFailed
	}
	if _, err := fmt.Fprintln(con.out, answer); err != nil || status == exitDone {
		return err
	}
	return &exitError{status}
}

// readRights reads a file of rights. A bad one is a mistake of the caller, so nothing was done.
func readRights(path string) (*access.Table, error) {
	k, err := access.Open(path, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return nil, usagef("%s", strings.TrimSpace(err.Error()))
	}
	return k.Table(), nil
}
