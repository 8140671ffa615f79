package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/embedded"
)

// holdsOverNATS compares what a request in an account meets with the matrix. isOwn: the account is Carillon's.
func (g *guarded) holdsOverNATS(m *right, nc *nats.Conn, caller string, isOwn bool) {
	g.t.Helper()
	subject := m.subject
	if subject == "" || subject == none {
		subject = "v1.billing." + m.verb
	}
	reply, err := nc.Request("carillon."+subject, []byte(m.body), 10*time.Second)
	isOfTenant := api.VerbNamed(m.verb) != nil || m.verb == "credentials.read"
	if caller == "stranger" || m.subject == none || !isOfTenant && !isOwn {
		if !errors.Is(err, nats.ErrNoResponders) {
			g.t.Errorf("%s by %q over NATS: %v; want no responders", m.verb, caller, err)
		}
		return
	}
	if err != nil {
		g.t.Errorf("%s by %q over NATS: %v", m.verb, caller, err)
		return
	}
	code := ""
	for _, refusal := range []string{"forbidden", "unauthenticated"} {
		if strings.Contains(string(reply.Data), `"`+refusal+`"`) {
			code = refusal
		}
	}
	want := ""
	if isOfTenant && !m.allowed(caller, "NATS") {
		want = "forbidden"
	}
	if code != want || want != "" && m.verb != "credentials.read" && !strings.Contains(string(reply.Data), m.verb) {
		g.t.Errorf("%s by %q over NATS: %s; want %q", m.verb, caller, reply.Data, want)
	}
}

// standIns answers in Carillon's account what only nodes of a cluster answer, so that a request that gets there is known.
func (g *guarded) standIns() {
	g.t.Helper()
	public, err := g.key.PublicKey()
	if err != nil {
		g.t.Fatal(err)
	}
	nc, err := nats.Connect(g.Ready().NATS, nats.Nkey(public, g.key.Sign))
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(nc.Close)
	for _, m := range matrix {
		if strings.HasPrefix(m.subject, "cluster.") || strings.HasPrefix(m.subject, "shard.") {
			if _, err := nc.Subscribe("carillon."+m.subject, func(got *nats.Msg) { _ = got.Respond([]byte("reached")) }); err != nil {
				g.t.Fatal(err)
			}
		}
	}
	settle(g.t, nc)
}

// TestEmbeddedHasNoRights: a process that embeds the scheduler may use each verb.
func TestEmbeddedHasNoRights(t *testing.T) {
	t.Parallel()
	s, err := embedded.Open(t.TempDir(), embedded.Options{
		Tenant: "billing", Handlers: map[string]embedded.Handler{"f": func(context.Context, embedded.Run) error { return nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(t.Context()) }()
	tried := 0
	for _, m := range matrix {
		if m.inProcess == nil {
			continue
		}
		tried++
		err := m.inProcess(t.Context(), s.Client)
		var refusal *client.Error
		isAbsent := errors.As(err, &refusal) && (refusal.Code == client.CodeNotFound || refusal.Code == client.CodeInvalidField)
		if isOfRun := strings.HasPrefix(m.verb, "runs."); err != nil && !(isOfRun && isAbsent) {
			t.Errorf("%s: %v", m.verb, err)
		}
	}
	if tried == 0 {
		t.Error("the matrix has no call")
	}
}
