package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// remoteFlags are the flags of the commands that change something on a server or read from it. A command that the
// audit log does not record, such as backup, embeds serverFlags alone.
type remoteFlags struct {
	serverFlags
	By string `help:"Name of the caller in the audit log; user and machine if left out." placeholder:"NAME" env:"CARILLON_BY" group:"server"`
}

// connect connects to the server in the name of the user (--by). The caller must close the result.
func (f *remoteFlags) connect(ctx context.Context) (*remote, error) {
	by := f.By
	if by == "" {
		by = whoAsks()
	}
	return f.connectAs(ctx, by)
}

// whoAsks returns user@host for the audit log, cut to the length and the characters that it accepts. It is a hint and
// no proof: a caller may give any name, and the server records besides from where a request came.
func whoAsks() string {
	user := os.Getenv("USER")
	if user == "" {
		user = fmt.Sprint(os.Getuid())
	}
	host, _ := os.Hostname()
	by := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, user+"@"+host)
	for len(by) > job.ActorBytesMax {
		_, size := utf8.DecodeLastRuneInString(by)
		by = by[:len(by)-size]
	}
	return by
}

// serverFlags select a server and say how to connect to it. All are optional: without any, a server on this machine
// is asked in the name of the default tenant.
type serverFlags struct {
	Server  string `help:"NATS URL of the server, or of several servers of a cluster, separated by commas; nats://127.0.0.1:4222 if left out." placeholder:"URL" secret:"user" env:"CARILLON_SERVER" group:"server"`
	Context string `help:"Read address and credentials from this context of the nats command, instead of --server, --creds and the TLS flags." placeholder:"NAME" complete:"@contexts" env:"CARILLON_CONTEXT" group:"server"`
	Tenant  string `help:"Tenant of the jobs." default:"default" env:"CARILLON_TENANT" group:"server"`
	Prefix  string `help:"First token of the service's NATS subjects." default:"carillon" env:"CARILLON_PREFIX" group:"server"`
	Token   string `help:"Token for the embedded NATS server of a server with rights; better set by the variable, which ps does not show." placeholder:"TOKEN" env:"CARILLON_TOKEN" group:"server"`
	Creds   string `help:"Credentials file for NATS." placeholder:"FILE" env:"CARILLON_CREDS" group:"server"`
	TLSCert string `name:"tls-cert" help:"Client certificate for NATS." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_CERT" group:"server"`
	TLSKey  string `name:"tls-key" help:"Key of the client certificate." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_KEY" group:"server"`
	TLSCA   string `name:"tls-ca" help:"Root certificates to trust for NATS." placeholder:"FILE" env:"CARILLON_TLS_CA" group:"server"`
	Standby bool   `help:"Ask a standby instead of the leader: read only, and perhaps behind." env:"CARILLON_STANDBY" group:"server"`
	Timeout span   `help:"How long a request may take." default:"15s" env:"CARILLON_TIMEOUT" group:"server"`
}

// remote is a connection to a server. It is used by one command and closed by it.
type remote struct {
	*client.Client
	// nc is closed by close, and not by the client, which did not make it.
	nc *nats.Conn
}

// connectAs connects to the server. By is the name for the audit log; "" sends none. The caller must close the result.
// It fails if no server answers now, instead of waiting: a person is at the terminal, and a script can repeat.
func (f *serverFlags) connectAs(ctx context.Context, by string) (*remote, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	server, options, err := f.natsOptions()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(server, options...)
	if errors.Is(err, nats.ErrAuthorization) && f.Token != "" {
		// A principal with a role in several tenants chooses one by the user name. An admin of all tenants must give none,
		// so it is not the first try.
		nc, err = nats.Connect(server, append(options, nats.UserInfo(f.Tenant, ""))...)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", redactURLs(server), err)
	}
	c, err := client.New(nc, client.Options{Prefix: f.Prefix, Tenant: f.Tenant, By: by, Standby: f.Standby, Timeout: time.Duration(f.Timeout)})
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &remote{c, nc}, nil
}

// serverDefault is the default address of a server on this machine.
const serverDefault = nats.DefaultURL

// natsOptions returns the servers and the options of the connection, from the context if there is one, else from the
// flags. Once connected, a connection that breaks is restored without end, so that --watch and a long import survive a
// restart of NATS; the timeout of each request ends the others.
func (f *serverFlags) natsOptions() (server string, options []nats.Option, err error) {
	name, _ := os.Hostname()
	options = []nats.Option{
		nats.Name("carillon command on " + name), nats.Timeout(time.Duration(f.Timeout)),
		nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond),
	}
	if f.Context != "" {
		server, more, err := f.contextOptions()
		return cmp.Or(server, serverDefault), append(options, more...), err
	}
	if f.Token != "" {
		options = append(options, nats.Token(f.Token))
	}
	if f.Creds != "" {
		options = append(options, nats.UserCredentials(f.Creds))
	}
	if f.TLSCert != "" {
		options = append(options, nats.ClientCert(f.TLSCert, f.TLSKey))
	}
	if f.TLSCA != "" {
		options = append(options, nats.RootCAs(f.TLSCA))
	}
	return cmp.Or(f.Server, serverDefault), options, nil
}

// contextOptions returns the servers and the options of the context. It refuses flags and variables that a context
// replaces, because credentials from one could go to a server of the other.
func (f *serverFlags) contextOptions() (server string, options []nats.Option, err error) {
	for _, other := range []struct{ flag, value string }{
		{"--server", f.Server}, {"--token", f.Token}, {"--creds", f.Creds}, {"--tls-cert", f.TLSCert}, {"--tls-ca", f.TLSCA},
	} {
		if other.value != "" {
			return "", nil, usagef("--context %s and %s %s exclude each other (each may come from its variable): leave one out", f.Context, other.flag, redactURLs(other.value))
		}
	}
	c, err := readNATSContext(f.Context)
	if err != nil {
		return "", nil, err
	}
	options, err = c.options()
	return c.URL, options, err
}

// close closes the connection. Requests that are under way fail.
func (r *remote) close() { r.nc.Close() }

// get returns a job, with its credentials in clear or masked.
func (r *remote) get(ctx context.Context, name string, withCredentials bool) (client.JobInfo, error) {
	if withCredentials {
		return r.GetWithCredentials(ctx, name)
	}
	return r.Get(ctx, name)
}
