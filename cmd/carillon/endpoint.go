package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/natsfile"
	"github.com/carillon-io/carillon/serverurl"
)

// endpointFlags are the address of a server and the credentials for it.
type endpointFlags struct {
	Server    string `help:"URL of the server: nats://HOST:4222, or those of a cluster's servers separated by commas, or https://HOST:7272; nats://127.0.0.1:4222 if left out." placeholder:"URL" secret:"user" instead:"--creds FILE, --token-file FILE or 'carillon login'" env:"CARILLON_SERVER" group:"server"`
	Tenant    string `help:"Tenant of the jobs; default if left out." placeholder:"TENANT" env:"CARILLON_TENANT" group:"server"`
	Prefix    string `help:"First token of the service's NATS subjects; carillon if left out." placeholder:"PREFIX" env:"CARILLON_PREFIX" group:"server"`
	Token     string `help:"Token for a server with rights; by the variable only, because other users can read a command line." placeholder:"TOKEN" secret:"all" instead:"--token-file FILE, or 'carillon login'" env:"CARILLON_TOKEN" group:"server"`
	TokenFile string `help:"File with the token; it is read again when a connection is restored." placeholder:"FILE" env:"CARILLON_TOKEN_FILE" group:"server"`
	Creds     string `help:"Credentials file for NATS." placeholder:"FILE" env:"CARILLON_CREDS" group:"server"`
	NKey      string `name:"nkey" help:"File with the seed of an nkey for NATS." placeholder:"FILE" env:"CARILLON_NKEY" group:"server"`
	Inbox     string `help:"Beginning of the inboxes on NATS, if the permissions of the user ask for one; _INBOX if left out." placeholder:"PREFIX" env:"CARILLON_INBOX" group:"server"`
	TLSCert   string `name:"tls-cert" help:"Client certificate." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_CERT" group:"server"`
	TLSKey    string `name:"tls-key" help:"Key of the client certificate." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_KEY" group:"server"`
	TLSCA     string `name:"tls-ca" help:"Root certificates to trust for the server." placeholder:"FILE" env:"CARILLON_TLS_CA" group:"server"`
	Timeout   span   `help:"How long a request may take." default:"15s" env:"CARILLON_TIMEOUT" group:"server"`
}

// endpoint is a server and the credentials for it. It is also what a file of 'carillon login' contains: the JSON names
// do not change, and a file with another name is refused. The zero value is a server on this machine.
type endpoint struct {
	Server  string `json:"server"`
	Tenant  string `json:"tenant,omitempty"`
	Prefix  string `json:"prefix,omitempty"`
	Inbox   string `json:"inbox,omitempty"`
	Token   string `json:"token,omitempty"`
	Creds   string `json:"creds,omitempty"` // names of files from here on
	NKey    string `json:"nkey,omitempty"`
	TLSCert string `json:"tls_cert,omitempty"`
	TLSKey  string `json:"tls_key,omitempty"`
	TLSCA   string `json:"tls_ca,omitempty"`

	tokenFile string       // instead of Token; not saved
	nats      *natsContext // of the nats command, instead of all but tenant, prefix and inbox; nil: none
}

// given returns what the flags and their variables say.
func (f *endpointFlags) given() (*endpoint, error) {
	if f.Token != "" && f.TokenFile != "" {
		return nil, usagef("--token and --token-file exclude each other (each may come from its variable): leave one out")
	}
	return &endpoint{
		Server: f.Server, Tenant: f.Tenant, Prefix: f.Prefix, Inbox: f.Inbox, Token: f.Token, tokenFile: f.TokenFile,
		Creds: f.Creds, NKey: f.NKey, TLSCert: f.TLSCert, TLSKey: f.TLSKey, TLSCA: f.TLSCA,
	}, nil
}

// hasCredentials reports whether the endpoint says who the caller is.
func (e *endpoint) hasCredentials() bool {
	return e.Token != "" || e.tokenFile != "" || e.Creds != "" || e.NKey != "" || e.TLSCert != ""
}

// over returns the endpoint of a context, with what e says in its place. Credentials replace all of those of the
// context, so that the caller is never two at once.
func (e *endpoint) over(saved *endpoint) *endpoint {
	merged := *saved
	if e.hasCredentials() {
		merged.Token, merged.tokenFile, merged.Creds, merged.NKey = e.Token, e.tokenFile, e.Creds, e.NKey
		merged.TLSCert, merged.TLSKey = e.TLSCert, e.TLSKey
	}
	merged.Tenant, merged.Prefix = cmp.Or(e.Tenant, saved.Tenant), cmp.Or(e.Prefix, saved.Prefix)
	merged.Inbox, merged.TLSCA = cmp.Or(e.Inbox, saved.Inbox), cmp.Or(e.TLSCA, saved.TLSCA)
	return &merged
}

// inContext returns the endpoint of a context that the caller has named: one of 'carillon login', or else one of the
// nats command. It refuses flags and variables that a context replaces, because credentials from one could go to a server
// of the other.
func (e *endpoint) inContext(name string) (*endpoint, error) {
	for _, other := range []struct{ flag, value string }{
		{"--server", serverurl.Redact(e.Server)}, {"--token", mask(e.Token)}, {"--token-file", e.tokenFile}, {"--creds", e.Creds},
		{"--nkey", e.NKey}, {"--tls-cert", e.TLSCert}, {"--tls-ca", e.TLSCA},
	} {
		if other.value != "" {
			return nil, usagef("--context %s and %s %s exclude each other (each may come from its variable): leave one out", clip(name), other.flag, other.value)
		}
	}
	saved, err := contextNamed(name)
	if err != nil {
		return nil, err
	}
	return e.over(saved), nil
}

// mask returns what is shown in the place of a secret; "" for none.
func mask(secret string) string {
	if secret == "" {
		return ""
	}
	return client.Mask
}

// serverDefault is the default address of a server on this machine.
const serverDefault = nats.DefaultURL

// schemes are those of the URLs of servers.
var schemes = []string{"nats", "tls", "ws", "wss", "http", "https"}

// isOverHTTP reports whether the server is asked over HTTP.
func (e *endpoint) isOverHTTP() bool { return serverurl.IsHTTP(e.Server) }

// scheme returns the scheme of the server's URL, or of the first one of several; "nats" without one.
func (e *endpoint) scheme() string {
	first := serverurl.First(e.Server)
	return first.Scheme
}

// token returns the function that the client calls for the token; nil: there is none.
func (e *endpoint) token() func() (string, error) {
	switch {
	case e.tokenFile != "":
		return client.TokenFile(e.tokenFile)
	case e.Token != "":
		return client.StaticToken(e.Token)
	}
	return nil
}

// connect connects to the server. The options say what the endpoint does not. The caller must close the result.
func (e *endpoint) connect(opts client.Options) (*remote, error) {
	if err := checkServers(e.Server); err != nil {
		return nil, err
	}
	if !slices.Contains(schemes, e.scheme()) {
		return nil, usagef("--server: the scheme %s:// is unknown; want nats:// or tls:// for NATS, as in nats://host:4222, or https:// for HTTP, as in https://host:7272", clip(e.scheme()))
	}
	opts.Tenant, opts.Prefix = e.Tenant, e.Prefix
	if e.nats == nil && e.isOverHTTP() {
		return e.connectHTTP(opts)
	}
	nc, err := e.connectNATS(opts)
	if err != nil {
		return nil, err
	}
	c, err := client.New(nc, opts)
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &remote{Client: c, nc: nc}, nil
}

// connectNATS connects to NATS. An admin of all tenants may ask for a tenant that has no account on the embedded server:
// the server refuses such a name, and the second try gives none. The tenant default has an account always, so without
// a tenant there is no second try.
func (e *endpoint) connectNATS(opts client.Options) (*nats.Conn, error) {
	server, options := e.natsOptions(opts)
	if err := natsfile.Check(options...); err != nil {
		return nil, usagef("%v", err)
	}
	nc, err := nats.Connect(server, options...)
	if errors.Is(err, nats.ErrAuthorization) && e.Tenant != "" && !opts.AllTenants && (e.token() != nil || e.NKey != "") {
		opts.AllTenants = true
		if again, err := e.connectNATS(opts); err == nil {
			return again, nil
		}
	}
	if err != nil {
		if other := e.otherProtocol(); e.nats == nil && other != nil {
			return nil, other
		}
		return nil, fmt.Errorf("connect to NATS at %s: %w", serverurl.Redact(server), err)
	}
	return nc, nil
}

// connectHTTP connects to a server over HTTP.
func (e *endpoint) connectHTTP(opts client.Options) (r *remote, err error) {
	if e.Creds != "" || e.NKey != "" {
		return nil, usagef("--creds and --nkey are for NATS, and %s is reached over HTTP: log in with a token or with --tls-cert, or give the NATS URL of the server", serverurl.Redact(e.Server))
	}
	opts.Token = e.token()
	if opts.TLS, err = client.TLSFrom(e.TLSCA, e.TLSCert, e.TLSKey); err != nil {
		return nil, usagef("%v", err)
	}
	if opts.Token != nil {
		if _, err := opts.Token(); err != nil {
			return nil, usagef("%v", err)
		}
	}
	c, err := client.Connect(e.Server, opts)
	if err != nil {
		if other := e.otherProtocol(); other != nil {
			return nil, other
		}
		return nil, err
	}
	return &remote{Client: c}, nil
}

// natsOptions returns the servers and the options of a connection to NATS. Once connected, a connection that breaks is
// restored without end, so that --watch, a worker and a long import survive a restart of NATS, and credentials that it refuses for a
// while; the timeout of each request ends the others.
func (e *endpoint) natsOptions(opts client.Options) (server string, options []nats.Option) {
	name, _ := os.Hostname()
	options = []nats.Option{
		nats.Name("carillon command on " + name), nats.Timeout(cmp.Or(opts.Timeout, 15*time.Second)),
		nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(), nats.ReconnectWait(200 * time.Millisecond),
	}
	if e.nats != nil {
		more := e.nats.options()
		if e.Inbox != "" {
			more = append(more, nats.CustomInboxPrefix(e.Inbox))
		}
		return cmp.Or(e.nats.URL, serverDefault), append(options, more...)
	}
	if e.Inbox != "" {
		options = append(options, nats.CustomInboxPrefix(e.Inbox))
	}
	if token := e.token(); token != nil {
		tenant := cmp.Or(e.Tenant, "default")
		if opts.AllTenants {
			tenant = ""
		}
		options = append(options, client.WithToken(tenant, token))
	}
	if e.Creds != "" {
		options = append(options, natsfile.Creds(e.Creds))
	}
	if e.NKey != "" {
		options = append(options, natsfile.NKey(e.NKey))
		if e.Tenant != "" && !opts.AllTenants {
			options = append(options, nats.UserInfo(e.Tenant, "")) // of several tenants of the key, this one
		}
	}
	options = append(options, natsfile.TLS(e.TLSCA, e.TLSCert, e.TLSKey))
	return cmp.Or(e.Server, serverDefault), options
}

// absolute makes the names of files independent of the directory in which a command runs.
func (e *endpoint) absolute() error {
	for _, file := range []*string{&e.Creds, &e.NKey, &e.TLSCert, &e.TLSKey, &e.TLSCA} {
		if *file == "" {
			continue
		}
		path, err := filepath.Abs(*file)
		if err != nil {
			return err
		}
		*file = path
	}
	return nil
}
