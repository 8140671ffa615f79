package main

import (
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/certs"
)

// TestCertificatesOfPeers: a node's certificate for peers is one for both directions, and nothing that the other authority
// issues is a peer's, whatever it is for.
func TestCertificatesOfPeers(t *testing.T) {
	dir := t.TempDir()
	if status, out, errs := command("auth", "certs", dir, "--nodes", "a", "--client", "ops"); status != exitDone {
		t.Fatal(out, errs)
	}
	for name, good := range map[string]bool{"a-peer": true, "a": false, "ops": false} {
		at := filepath.Join(dir, name)
		_, err := certs.Open(certs.Options{
			Name: "cluster", Peers: true, Logger: slog.New(slog.DiscardHandler),
			Files: certs.Files{Cert: at + ".crt", Key: at + ".key", CA: filepath.Join(dir, "peers-ca.crt")},
		})
		if (err == nil) != good {
			t.Errorf("%s as a peer: %v", name, err)
		}
	}
}
