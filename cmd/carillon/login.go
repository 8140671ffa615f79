package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/serverurl"
	"github.com/carillon-io/carillon/terminal"
)

// loginCmd saves the credentials for a server as a context.
type loginCmd struct {
	Name string `arg:"" optional:"" help:"Name of the context; the host of the server if left out." complete:"@own-contexts"`
	endpointFlags
}

// Help is what `carillon login --help` says besides the flags.
func (*loginCmd) Help() string {
	return `The token is asked for at the terminal, without showing it, or read from the standard input. The command asks the server whether it knows the credentials and whether they have a role in the tenant, and saves nothing otherwise.
Later commands use the context, unless --server, --context or their variables name another server. To replace a token, log in to the same context again.

Examples:

  carillon login prod --server https://carillon.example.com:7272 --tenant billing
  carillon login prod
  carillon login prod --server https://carillon.example.com:7272 --token-file token
  carillon auth token ci | carillon login --server https://carillon.example.com:7272
  carillon login ops --server tls://nats.example.com:4222 --creds ops.creds`
}

// Run implements the command.
func (c *loginCmd) Run(ctx context.Context, con *console) error {
	e, name, err := c.goal()
	if err != nil {
		return err
	}
	if !e.hasCredentials() {
		if e.Token, err = con.askForToken(ctx, e.Server); err != nil {
			return err
		}
	}
	if e.tokenFile != "" {
		if e.Token, err = client.TokenFile(e.tokenFile)(); err != nil {
			return usagef("%v", err)
		}
		e.tokenFile = ""
	}
	if err := errors.Join(e.absolute(), e.check()); err != nil {
		return err
	}
	if e.isInTheClear() {
		con.notef("carillon: %s has no TLS, so whoever can listen between here and there can read the token\n", serverurl.Redact(e.Server))
	}
	status, err := e.try(ctx, time.Duration(c.Timeout))
	if err != nil {
		return err
	}
	if err := errors.Join(writeContext(name, e), setCurrent(name)); err != nil {
		return fmt.Errorf("save the context: %w", err)
	}
	con.printf("%s knows these credentials (carillon %s, %s); saved as the context %s, tenant %s, and in use from now on\n",
		serverurl.Redact(e.Server), orDash(status.Version), status.Role, name, cmp.Or(e.Tenant, "default"))
	return nil
}

// goal returns the server to log in to, and the name of the context. Without --server, that of the context counts: the
// named one, or else the current one. Its credentials do not: they are to be replaced.
func (c *loginCmd) goal() (e *endpoint, name string, err error) {
	if e, err = c.given(); err != nil {
		return nil, "", err
	}
	if name = c.Name; e.Server == "" {
		if name == "" {
			if name, err = currentContext(); err != nil {
				return nil, "", err
			}
		}
		if name == "" {
			return nil, "", usagef("say which server: --server https://HOST:7272, or nats://HOST:4222")
		}
		saved, err := readContext(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, "", usagef("%v; a new context needs --server", errNoContext(name))
		}
		if err != nil {
			return nil, "", err
		}
		saved.Token, saved.Creds, saved.NKey, saved.TLSCert, saved.TLSKey = "", "", "", "", ""
		return e.over(saved), name, nil
	}
	if strings.Contains(e.Server, "@") {
		return nil, "", usagef("the URL has a user; a context has the credentials by themselves: give the URL without them, and --creds, --token-file or a token")
	}
	if name == "" {
		first := serverurl.First(e.Server)
		name = first.Hostname()
	}
	if !isContextName(name) {
		return nil, "", usagef("%q is no name of a context; name it: carillon login NAME --server %s", clip(name), clip(e.Server))
	}
	return e, name, nil
}

// isInTheClear reports whether a token would go to another machine without TLS for sure. A URL of NATS does not say.
func (e *endpoint) isInTheClear() bool {
	if e.Token == "" || e.scheme() != "http" {
		return false
	}
	first := serverurl.First(e.Server)
	return !job.IsThisMachine(first.Hostname())
}

// askForToken reads a token: from the terminal without showing it, or else from the standard input.
func (c *console) askForToken(ctx context.Context, server string) (string, error) {
	f, ok := c.in.(*os.File)
	if !ok || !terminal.IsTerminal(f) {
		token, err := client.ReadToken(c.in)
		if err != nil {
			return "", fmt.Errorf("standard input: %w; without a terminal, pipe the token in or give --token-file", err)
		}
		return token, nil
	}
	c.notef("Token for %s: ", serverurl.Redact(server))
	token, err := terminal.ReadSecret(ctx, f, client.TokenBytesMax)
	c.notef("\n")
	if err != nil {
		return "", err
	}
	token = strings.TrimSpace(token)
	return token, client.CheckToken(token)
}

// try asks the server whether it knows the credentials, and whether they may read in the tenant. Each role of a tenant
// may.
func (e *endpoint) try(ctx context.Context, timeout time.Duration) (client.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := e.connect(client.Options{Timeout: timeout})
	if err != nil {
		return client.Status{}, err
	}
	defer r.close()
	_, err = r.List(ctx, client.ListRequest{Limit: 1})
	if client.IsForbidden(err) {
		return client.Status{}, fmt.Errorf("the server knows these credentials, and they have no role in the tenant %s; give another --tenant, or ask for a grant: %w", cmp.Or(e.Tenant, "default"), err)
	}
	if err != nil {
		return client.Status{}, err
	}
	return r.Status(ctx)
}

// logoutCmd removes a context.
type logoutCmd struct {
	Name string `arg:"" optional:"" help:"Name of the context; the current one if left out." complete:"@own-contexts"`
}

// Help is what `carillon logout --help` says besides the flags.
func (*logoutCmd) Help() string {
	return `The token stays valid on the server: to end it, remove its principal from the file of rights.

Examples:

  carillon logout
  carillon logout prod`
}

// Run implements the command. It removes also a context that cannot be read.
func (c *logoutCmd) Run(con *console) error {
	current, err := currentContext()
	name := cmp.Or(c.Name, current)
	if name == "" {
		if err == nil {
			err = usagef("no context is in use; name one of 'carillon context list'")
		}
		return err
	}
	path, err := contextPath(name)
	if err != nil {
		return err
	}
	err = os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) && name != current {
		return errNoContext(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if name == current {
		if err := setCurrent(""); err != nil {
			return err
		}
	}
	con.printf("removed the context %s\n", name)
	return nil
}
