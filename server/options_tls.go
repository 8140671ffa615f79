package server

import (
	"errors"
	"fmt"

	"github.com/carillon-io/carillon/certs"
)

// CheckTLS returns what is wrong about the certificates that the options name, by the flags that set them; nil if
// nothing is. It reads no file. Start calls it too.
func (o Options) CheckTLS() error {
	for _, one := range []struct {
		flag, ca string
		files    certs.Files
	}{
		{"--http-tls", "--http-tls-client-ca", o.HTTPTLS},
		{"--listen-tls", "--listen-tls-ca", o.ListenTLS},
		{"--cluster-tls", "--cluster-tls-ca", o.ClusterTLS},
	} {
		switch f := one.files; {
		case f.Cert != "" && f.Key == "":
			return fmt.Errorf("options: %s-cert needs %s-key, the private key of the certificate", one.flag, one.flag)
		case f.Cert == "" && f.Key != "":
			return fmt.Errorf("options: %s-key needs %s-cert, the certificate of the key", one.flag, one.flag)
		case f.Cert == "" && f.CA != "":
			return fmt.Errorf("options: %s needs %s-cert and %s-key: without a certificate of its own the listener has no TLS", one.ca, one.flag, one.flag)
		}
	}
	switch {
	case o.ListenTLS.IsSet() && o.NATSURL != "":
		return errors.New("options: --listen-tls-cert is of the embedded NATS server, and --nats takes its place; leave out the one or the other")
	case o.ClusterTLS.IsSet() && !o.clusterEmbedded():
		return errors.New("options: --cluster-tls-cert is of the embedded NATS servers of a cluster; it needs --cluster-name, and no --nats")
	case o.ClusterTLS.IsSet() && o.ClusterTLS.CA == "":
		return errors.New("options: --cluster-tls-cert needs --cluster-tls-ca: the nodes of a cluster verify each other")
	}
	return nil
}
