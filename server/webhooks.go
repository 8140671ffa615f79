package server

import "crypto/tls"

// webhookTLS returns the TLS configuration for https targets; nil is Go's default.
func (o Options) webhookTLS() *tls.Config {
	if o.WebhookRoots == nil {
		return nil
	}
	return &tls.Config{RootCAs: o.WebhookRoots, MinVersion: tls.VersionTLS12}
}
