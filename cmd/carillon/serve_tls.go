package main

import "github.com/carillon-io/carillon/certs"

// tlsFlags are the flags of serve for the certificates of its listeners. Those for the NATS servers of --nats are apart:
// there this process is the client.
type tlsFlags struct {
	HTTPTLSCert     string `name:"http-tls-cert" help:"Certificate of HTTP, in PEM form; HTTP is https then. It is read again when it changes, as all certificates of listeners are." placeholder:"FILE" env:"CARILLON_HTTP_TLS_CERT"`
	HTTPTLSKey      string `name:"http-tls-key" help:"Private key of --http-tls-cert." placeholder:"FILE" env:"CARILLON_HTTP_TLS_KEY"`
	HTTPTLSClientCA string `name:"http-tls-client-ca" help:"Certificate authorities of HTTP clients: a certificate that a client shows must be from one of them. Clients may show none." placeholder:"FILE" env:"CARILLON_HTTP_TLS_CLIENT_CA"`

	ListenTLSCert string `name:"listen-tls-cert" help:"Certificate of the embedded NATS server; clients must use TLS then." placeholder:"FILE" env:"CARILLON_LISTEN_TLS_CERT"`
	ListenTLSKey  string `name:"listen-tls-key" help:"Private key of --listen-tls-cert." placeholder:"FILE" env:"CARILLON_LISTEN_TLS_KEY"`
	ListenTLSCA   string `name:"listen-tls-ca" help:"Certificate authorities of NATS clients: each client must show a certificate from one of them." placeholder:"FILE" env:"CARILLON_LISTEN_TLS_CA"`

	ClusterTLSCert string `name:"cluster-tls-cert" help:"Certificate of this node for the embedded NATS servers of the others; for both server and client authentication." placeholder:"FILE" env:"CARILLON_CLUSTER_TLS_CERT"`
	ClusterTLSKey  string `name:"cluster-tls-key" help:"Private key of --cluster-tls-cert." placeholder:"FILE" env:"CARILLON_CLUSTER_TLS_KEY"`
	ClusterTLSCA   string `name:"cluster-tls-ca" help:"Certificate authorities of the nodes: every node must show a certificate from one of them." placeholder:"FILE" env:"CARILLON_CLUSTER_TLS_CA"`
}

func (f *tlsFlags) httpTLS() certs.Files {
	return certs.Files{Cert: f.HTTPTLSCert, Key: f.HTTPTLSKey, CA: f.HTTPTLSClientCA}
}

func (f *tlsFlags) listenTLS() certs.Files {
	return certs.Files{Cert: f.ListenTLSCert, Key: f.ListenTLSKey, CA: f.ListenTLSCA}
}

func (f *tlsFlags) clusterTLS() certs.Files {
	return certs.Files{Cert: f.ClusterTLSCert, Key: f.ClusterTLSKey, CA: f.ClusterTLSCA}
}
