package server

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/testkit"
)

// TestClientCertificates: a certificate makes its client the principal whose cert it names, and no other; one that is not
// accepted is answered with 401 and the reason, and stands in the way of no other means.
func TestClientCertificates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.yaml")
	text := fmt.Sprintf("principals:\n  - {name: build, cert: build.example.com, grants: [{tenant: default, role: viewer}]}\n  - {name: root, token_sha256: %s, grants: [{tenant: \"*\", role: admin}]}\n", access.HashToken("root"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSecured(t, func(o *Options) { o.Auth, o.ListenTLS.CA = path, "" })
	foreign := certstest.NewAuthority(t)
	good := certstest.Client("build.example.com")
	expired, early := good, good
	expired.Begins, expired.Ends = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	early.Begins = time.Now().Add(time.Hour)
	node := certs.Wanted{Name: "n", Hosts: []string{"build.example.com"}, Server: true}
	for _, c := range []struct {
		what   string
		from   *certs.Authority
		wanted *certs.Wanted
		token  string
		status int
		text   string
	}{
		{"a good one", s.authority, &good, "", 200, "leader"},
		{"none", nil, nil, "", 401, "no credentials"},
		{"a foreign one", foreign, &good, "", 401, "the client certificate is not accepted: it is from no authority"},
		{"an expired one", s.authority, &expired, "", 401, "the client certificate is not accepted: it has expired"},
		{"an early one", s.authority, &early, "", 401, "the client certificate is not accepted: it is not valid yet"},
		{"one for servers", s.authority, &node, "", 401, "not for the authentication of clients"},
		{"the name of a principal", s.authority, new(certstest.Client("root")), "", 401, "no principal of the file of rights has a name of the client certificate"},
		{"the name of a principal with cert", s.authority, new(certstest.Client("build")), "", 401, "no principal of the file of rights has a name of the client certificate"},
		{"an expired one beside a token", s.authority, &expired, "root", 200, "leader"},
		{"a good one beside a wrong token", s.authority, &good, "wrong", 401, "no credentials"},
	} {
		config := certstest.Trust(t, s.authority, nil)
		if c.wanted != nil {
			pair := certstest.Pair(t, c.from, *c.wanted)
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		}
		web := webClient(t, config)
		for range 2 { // over the same connection
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Ready().HTTP+"/api/v1/status", nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.token != "" {
				req.Header.Set("Authorization", "Bearer "+c.token)
			}
			r := testkit.Do(t, web, req)
			if r.Status != c.status || !strings.Contains(r.Body, c.text) || c.status == 401 && r.Header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("%s: %d %v %.300s; want %d with %q", c.what, r.Status, r.Header, r.Body, c.status, c.text)
			}
		}
	}
}
