package api

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/access"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/scheduler"
)

// TestWhoami: the reply has the node and the roles of the caller, of many roles the first, and says how many more there are.
func TestWhoami(t *testing.T) {
	var text strings.Builder
	text.WriteString("tenants:\n")
	for i := range grantsMax + 5 {
		fmt.Fprintf(&text, "  t%05d:\n", i)
	}
	text.WriteString("principals:\n- {name: few, token_sha256: " + access.HashToken("few") + ", grants: [{tenant: \"*\", role: viewer}, {tenant: t00007, role: admin}]}\n")
	text.WriteString("- name: many\n  token_sha256: " + access.HashToken("many") + "\n  grants:\n")
	for i := range grantsMax + 5 {
		fmt.Fprintf(&text, "  - {tenant: t%05d, role: operator}\n", i)
	}
	path := filepath.Join(t.TempDir(), "auth.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	rights, err := access.Open(path, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{Version: "v1", Cluster: func() *client.Cluster { return &client.Cluster{Node: "b", Role: "standby"} }}
	few := n.Whoami(scheduler.Status{Role: "leader"}, rights, rights.Table().WhoseToken("few"))
	want := client.Whoami{
		Principal: "few", Means: "token", By: "token:few", Metrics: true, Grants: []client.Grant{{Tenant: "*", Role: "viewer"}, {Tenant: "t00007", Role: "admin"}},
		Server: client.Answerer{Node: "b", Role: "standby", Version: "v1"},
	}
	if fmt.Sprint(*few) != fmt.Sprint(want) {
		t.Errorf("%+v; want %+v", *few, want)
	}
	if person := n.Whoami(scheduler.Status{}, rights, access.Who{Principal: rights.Table().Principal("few"), Means: "oidc:alice"}); person.Principal != "few" || person.Means != "oidc" || person.By != "oidc:alice" {
		t.Errorf("a person of an issuer: %+v", person)
	}
	many := n.Whoami(scheduler.Status{}, rights, rights.Table().WhoseToken("many"))
	if len(many.Grants) != grantsMax || many.MoreGrants != 5 || many.Metrics {
		t.Errorf("%d grants and %d more", len(many.Grants), many.MoreGrants)
	}
	if text, err := Encode(many); err != nil || len(text) > listBytes {
		t.Errorf("the largest reply has %d bytes, %v; want at most %d", len(text), err, listBytes)
	}
	if open := n.Whoami(scheduler.Status{}, nil, access.Who{}); !open.Open || open.Principal+open.By != "" {
		t.Errorf("without rights: %+v", open)
	}
}
