// Package certs keeps the certificates of listeners up to date. A [Keeper] reads a certificate, its key and the
// authorities of the other side from files, and reads them again when they change, so that a certificate is renewed
// without a restart. The configurations that it makes use for each new connection what was read last; connections that
// are open stay as they are.
//
// files.go reads and checks the files; keeper.go decides when new ones are used and what is said about those that are
// not; config.go makes the configurations for package crypto/tls; authority.go makes authorities and certificates for
// trying out and for tests. docs/tls.md is the page for operators.
package certs
