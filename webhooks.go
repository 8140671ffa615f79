package carillon

import "crypto/tls"

// webhookTLS is what https targets are reached with; nil is Go's default.
func (o Options) webhookTLS() *tls.Config {
	if o.WebhookRoots == nil {
		return nil
	}
	return &tls.Config{RootCAs: o.WebhookRoots, MinVersion: tls.VersionTLS12}
}
