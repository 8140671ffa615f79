package main

import (
	"maps"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// jobSecretFlags are the flags of a job that name secrets of the server. The server refuses them for other targets than
// those of HTTP.
type jobSecretFlags struct {
	SecretHeader map[string]string `help:"Header whose value is a secret of the server; may be repeated." placeholder:"KEY=TENANT/NAME" mapsep:"none" group:"what"`
	SecretURL    string            `name:"secret-url" help:"In place of --target: the URL is a secret of the server." placeholder:"TENANT/NAME" group:"what"`
	Sign         string            `help:"Sign requests with the keys in a secret of the server (Standard Webhooks)." placeholder:"TENANT/NAME" group:"what"`
	ClientCert   string            `help:"Client certificate for the target: a secret of the server with certificate and key in PEM form." placeholder:"TENANT/NAME" group:"what"`
}

// setIn sets the references of a target.
func (f *jobSecretFlags) setIn(t *client.Target) {
	t.URLSecret, t.Sign, t.ClientCert = client.Secret{Name: f.SecretURL}, client.Secret{Name: f.Sign}, client.Secret{Name: f.ClientCert}
}

// headers returns plain headers and those of the flags. Of a name in both it keeps the reference.
func (f *jobSecretFlags) headers(plain map[string]string) client.Headers {
	if len(f.SecretHeader) == 0 {
		return plain
	}
	all := make(client.Headers, len(plain)+len(f.SecretHeader))
	maps.Copy(all, plain)
	for name, ref := range f.SecretHeader {
		all[name] = client.Secret{Name: ref}.Header()
	}
	return all
}

// setHeaders sets the headers of a definition, of which those with references are apart.
func setHeaders(d *job.Definition, headers client.Headers) {
	for _, h := range pairsOf(headers) {
		if secret, ok := client.SecretOfHeader(h.Value); ok {
			d.SecretHeaders = append(d.SecretHeaders, job.Pair{Key: h.Key, Value: secret.Name})
			continue
		}
		d.Headers = append(d.Headers, h)
	}
}

// setTenant sets the tenant of a definition. The command does not know the tenant for which a file is meant, so it is
// that of the first reference to a secret, with which the others must agree.
func setTenant(d *job.Definition) {
	d.Tenant = "default"
	refs := []job.SecretRef{d.Target.URLSecret, d.Target.Sign, d.Target.ClientCert}
	for _, h := range d.SecretHeaders {
		refs = append(refs, job.SecretRef(h.Value))
	}
	for _, ref := range refs {
		if tenant, _, ok := ref.Cut(); ok {
			d.Tenant = tenant
			return
		}
	}
}

// showHeader returns the value of a header, or the reference in its place.
func showHeader(value string) string {
	if secret, ok := client.SecretOfHeader(value); ok {
		return secret.String()
	}
	return value
}
