package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/certs/certstest"
)

// TestBadOptionsAreOptionsErrors: whatever is wrong about the options, or about a file that they name, is found before
// anything is opened or made, and is an error by which a command tells bad usage from a failure.
func TestBadOptionsAreOptionsErrors(t *testing.T) {
	authority := certstest.NewAuthority(t)
	good, other := certstest.Files(t, authority, certstest.Node("a")), certstest.Files(t, authority, certstest.Node("b"))
	mere := certstest.Files(t, authority, certstest.Client("ops"))
	missing := filepath.Join(t.TempDir(), "missing")
	member := func(o *Options) { o.ClusterName, o.Routes = "prod", []string{"127.0.0.1:1", "127.0.0.1:2"} }
	for name, bad := range map[string]struct {
		set  func(*Options)
		want string
	}{
		"profiles for others":    {func(o *Options) { o.ProfileListen = "0.0.0.0:6060" }, "want an address of this machine"},
		"payload":                {func(o *Options) { o.PayloadBytesMax = -1 }, "the payload limit"},
		"zones":                  {func(o *Options) { o.TZData = "mars" }, "zone rules"},
		"inbox prefix":           {func(o *Options) { o.InboxPrefixes = []string{"a b"} }, "a b"},
		"secrets missing":        {func(o *Options) { o.SecretsDir = missing }, missing},
		"secrets no directory":   {func(o *Options) { o.SecretsDir = good.Cert }, "is no directory"},
		"trace collector":        {func(o *Options) { o.Traces.Endpoint = "ftp://x" }, "scheme ftp"},
		"rights missing":         {func(o *Options) { o.Auth = missing }, missing},
		"rights are a device":    {func(o *Options) { o.Auth = os.DevNull }, os.DevNull},
		"open to others":         {func(o *Options) { o.HTTPListen = "0.0.0.0:0" }, "would be open to others"},
		"a password alone":       {func(o *Options) { o.ClusterPassword = "0123456789abcdef" }, "needs a cluster name"},
		"no routes":              {func(o *Options) { o.ClusterName = "prod" }, "route"},
		"cluster name":           {func(o *Options) { member(o); o.ClusterName = "a.b" }, "cluster name"},
		"replicas":               {func(o *Options) { member(o); o.Replicas = 2 }, "replicas"},
		"durability":             {func(o *Options) { member(o); o.Durability = "none" }, "durability"},
		"witness of outside":     {func(o *Options) { o.ClusterName, o.NATSURL, o.Witness = "prod", "nats://127.0.0.1:1", true }, "witness"},
		"certificate alone":      {func(o *Options) { o.HTTPTLS.Cert = good.Cert }, "needs --http-tls-key"},
		"certificate missing":    {func(o *Options) { o.HTTPTLS = good; o.HTTPTLS.Cert = missing }, missing},
		"certificate is a pipe":  {func(o *Options) { o.ListenTLS = good; o.ListenTLS.Cert = os.DevNull }, "it is a device"},
		"key of another":         {func(o *Options) { o.HTTPTLS = good; o.HTTPTLS.Key = other.Key }, "--http-tls-cert"},
		"peer with a client's":   {func(o *Options) { member(o); o.ClusterTLS = mere }, "the peers would refuse it"},
		"URL of NATS":            {func(o *Options) { o.NATSURL = "nats://" }, "nats"},
		"creds missing":          {func(o *Options) { o.NATSURL, o.Creds = "nats://127.0.0.1:1", missing }, missing},
		"creds are a device":     {func(o *Options) { o.NATSURL, o.Creds = "nats://127.0.0.1:1", os.DevNull }, "it is a device"},
		"authorities are no PEM": {func(o *Options) { o.NATSURL, o.TLSCA = "nats://127.0.0.1:1", good.Key }, "has no certificate"},
		"key for NATS":           {func(o *Options) { o.NATSURL, o.TLSCert, o.TLSKey = "nats://127.0.0.1:1", good.Cert, other.Key }, good.Cert},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Dir: filepath.Join(t.TempDir(), "data"), Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: testLog()}
			bad.set(&o)
			_, err := Start(t.Context(), o)
			if _, ok := errors.AsType[*OptionsError](err); !ok || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("%v; want an OptionsError about %q", err, bad.want)
			}
			if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the data directory was made: %v", err)
			}
		})
	}
}

// TestFilesForOutsideServersAlone: files for NATS servers are not read if there are none, because the variables of a health
// check stand in the environment of a server too.
func TestFilesForOutsideServersAlone(t *testing.T) {
	if err := (Options{Creds: "missing", TLSCA: "missing"}).checkFiles(); err != nil {
		t.Error(err)
	}
}
