package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// remoteFlags are the flags of every command that speaks to a server.
type remoteFlags struct {
	Server  string `help:"NATS URL of the server." default:"nats://127.0.0.1:4222" env:"CARILLON_SERVER" group:"server"`
	Tenant  string `help:"Tenant whose jobs are meant." default:"default" env:"CARILLON_TENANT" group:"server"`
	Prefix  string `help:"First token of the service's NATS subjects." default:"carillon" env:"CARILLON_PREFIX" group:"server"`
	Creds   string `help:"Credentials file for NATS." placeholder:"FILE" env:"CARILLON_CREDS" group:"server"`
	TLSCert string `name:"tls-cert" help:"Client certificate for NATS." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_CERT" group:"server"`
	TLSKey  string `name:"tls-key" help:"Key of the client certificate." placeholder:"FILE" and:"tls" env:"CARILLON_TLS_KEY" group:"server"`
	TLSCA   string `name:"tls-ca" help:"Roots to trust for NATS." placeholder:"FILE" env:"CARILLON_TLS_CA" group:"server"`
	Timeout span   `help:"How long a request may take." default:"15s" env:"CARILLON_TIMEOUT" group:"server"`
}

// remote is a connection to a server.
type remote struct {
	*client.Client
	nc *nats.Conn
}

// connect reaches the server. The caller must close the result.
func (f *remoteFlags) connect(ctx context.Context) (*remote, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	name, _ := os.Hostname()
	options := []nats.Option{
		nats.Name("carillon command on " + name), nats.Timeout(time.Duration(f.Timeout)),
		nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond),
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
	nc, err := nats.Connect(f.Server, options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", f.Server, err)
	}
	c, err := client.New(nc, client.Options{Prefix: f.Prefix, Tenant: f.Tenant, Timeout: time.Duration(f.Timeout)})
	if err != nil {
		nc.Close()
		return nil, err
	}
	return &remote{c, nc}, nil
}

func (r *remote) close() { r.nc.Close() }
