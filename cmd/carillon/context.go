package main

import (
	"cmp"
	"errors"
	"io/fs"
)

// contextCmd groups the commands about contexts.
type contextCmd struct {
	List contextListCmd `cmd:"" help:"List the contexts."`
	LS   contextListCmd `cmd:"" name:"ls" hidden:"" help:"List the contexts."` // as the nats command names it
	Use  contextUseCmd  `cmd:"" help:"Use a context from now on."`
	Show contextShowCmd `cmd:"" help:"Show a context, without its token."`
}

// Help is what `carillon context --help` says besides the commands.
func (*contextCmd) Help() string {
	return `'carillon login' makes and changes contexts, 'carillon logout' removes them.

Examples:

  carillon context list
  carillon context use prod
  carillon context show`
}

// contextInfo is the JSON of a context. The token is masked.
type contextInfo struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	endpoint
	Error string `json:"error,omitempty"` // why it cannot be used; the other members are missing then
}

// infoOf reads a context for showing it. It cannot fail: a context that cannot be read has an error in it.
func infoOf(name, current string) contextInfo {
	info := contextInfo{Name: name, Current: name == current}
	e, err := readContext(name)
	if err != nil {
		info.Error = err.Error()
		return info
	}
	e.Token, e.Tenant, e.Prefix = mask(e.Token), cmp.Or(e.Tenant, "default"), cmp.Or(e.Prefix, "carillon")
	info.endpoint = *e
	return info
}

// credentials returns what kind of credentials a context has, for a table.
func (e *endpoint) credentials() string {
	switch {
	case e.Token != "":
		return "token"
	case e.Creds != "":
		return "creds"
	case e.NKey != "":
		return "nkey"
	case e.TLSCert != "":
		return "certificate"
	}
	return "-"
}

// contextListCmd lists the contexts.
type contextListCmd struct {
	outputFlag
}

// Help is what `carillon context list --help` says besides the flags.
func (*contextListCmd) Help() string {
	return `Examples:

  carillon context list
  carillon context list -o json`
}

// Run implements the command.
func (c *contextListCmd) Run(con *console) error {
	current, err := currentContext()
	if err != nil {
		con.notef("carillon: %v\n", err)
	}
	list := struct {
		Contexts []contextInfo `json:"contexts"`
	}{}
	for _, name := range savedContexts() {
		list.Contexts = append(list.Contexts, infoOf(name, current))
	}
	if c.isDocument() {
		return c.print(con, list)
	}
	rows := con.table("CURRENT", "NAME", "SERVER", "TENANT", "CREDENTIALS")
	for _, info := range list.Contexts {
		mark := "-"
		if info.Current {
			mark = "*"
		}
		rows.Row(mark, info.Name, orDash(info.Server), orDash(info.Tenant), info.credentials())
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	for _, info := range list.Contexts {
		if info.Error != "" {
			con.notef("carillon: %s\n", info.Error)
		}
	}
	return nil
}

// contextUseCmd makes a context the current one.
type contextUseCmd struct {
	Name string `arg:"" help:"Name of the context." complete:"@own-contexts"`
}

// Help is what `carillon context use --help` says besides the flags.
func (*contextUseCmd) Help() string {
	return `Example:

  carillon context use prod`
}

// Run implements the command. A context that cannot be used is not made the current one.
func (c *contextUseCmd) Run(con *console) error {
	e, err := readContext(c.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return errNoContext(c.Name)
	}
	if err != nil {
		return err
	}
	if err := setCurrent(c.Name); err != nil {
		return err
	}
	con.printf("%s is in use: %s, tenant %s\n", c.Name, e.Server, cmp.Or(e.Tenant, "default"))
	return nil
}

// contextShowCmd shows a context.
type contextShowCmd struct {
	Name string `arg:"" optional:"" help:"Name of the context; the current one if left out." complete:"@own-contexts"`
	outputFlag
}

// Help is what `carillon context show --help` says besides the flags.
func (*contextShowCmd) Help() string {
	return `Examples:

  carillon context show
  carillon context show prod -o json`
}

// Run implements the command.
func (c *contextShowCmd) Run(con *console) error {
	current, err := currentContext()
	name := cmp.Or(c.Name, current)
	switch {
	case name == "" && err == nil:
		return usagef("no context is in use; 'carillon login' makes one, or name one of 'carillon context list'")
	case name == "":
		return err
	}
	if _, err := readContext(name); errors.Is(err, fs.ErrNotExist) {
		return errNoContext(name)
	} else if err != nil {
		return err
	}
	info := infoOf(name, current)
	if c.isDocument() {
		return c.print(con, info)
	}
	rows := con.table()
	for _, row := range [][2]string{
		{"name", info.Name}, {"server", info.Server}, {"tenant", info.Tenant}, {"prefix", info.Prefix}, {"inbox", info.Inbox}, {"token", info.Token},
		{"creds", info.Creds}, {"nkey", info.NKey}, {"certificate", info.TLSCert}, {"key", info.TLSKey}, {"authorities", info.TLSCA},
	} {
		if row[1] != "" {
			rows.Row(row[0], row[1])
		}
	}
	return rows.Flush()
}
