package client_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestTokens: what a token may do is decided for each request, over both ways.
func TestTokens(t *testing.T) {
	put := func(c *client.Client) error {
		_, _, err := c.Put(t.Context(), client.Job{Name: "a", Schedule: "@daily", Target: client.Target{Kind: "nats", Subject: "out"}})
		return err
	}
	operator := connect(t, guardedHTTP, client.Options{Tenant: "billing", Token: client.TokenFile(operatorToken)})
	if err := put(operator); err != nil {
		t.Error(err)
	}
	viewer := connect(t, guardedHTTP, client.Options{Tenant: "billing", Token: client.TokenFile(viewerToken)})
	if err := put(viewer); !client.IsForbidden(err) || client.IsUnauthenticated(err) {
		t.Errorf("a viewer puts: %v", err)
	}
	for _, opts := range []client.Options{{}, {Token: client.StaticToken("guess")}} {
		if err := put(connect(t, guardedHTTP, opts)); !client.IsUnauthenticated(err) {
			t.Errorf("no known token: %v", err)
		}
		if _, err := client.Connect(guardedNATS, opts); !client.IsUnauthenticated(err) || !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("no known token over NATS: %v", err)
		}
	}
	admin := client.Options{Token: client.StaticToken(adminToken), AllTenants: true}
	if err := put(connect(t, guardedNATS, admin)); err != nil {
		t.Error(err)
	}
	nc, err := nats.Connect(guardedNATS, client.WithToken("", client.StaticToken(adminToken)))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := client.New(nc, admin); err == nil || !strings.Contains(err.Error(), "WithToken") {
		t.Errorf("a token for a connection that is there: %v", err)
	}
}

// TestBadTokens: a file that is no token is refused before anything is sent, and never shown.
func TestBadTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for text, want := range map[string]string{
		"": "empty", "\n": "empty", "se cret\n": "blank", "sécret": "ASCII", "secret\n\n": "blank", strings.Repeat("secret", 2_000): "8192 bytes", strings.Repeat("secret", 200_000): "65536 bytes",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := client.TokenFile(path)()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%.10q: %v; want %q", text, err, want)
		}
		if _, err := client.Connect(guardedNATS, client.Options{Token: client.TokenFile(path)}); err == nil {
			t.Errorf("%.10q was sent", text)
		}
	}
	if _, err := client.TokenFile(path + "x")(); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("good\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := client.TokenFile(path)(); token != "good" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
}

// tokens admits one token at a time, and notes the users that came.
type tokens struct {
	mu    sync.Mutex
	good  string
	users []string
}

// Check implements [natsserver.Authentication].
func (k *tokens) Check(c natsserver.ClientAuthentication) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := c.GetOpts()
	if o.Password != k.good || o.Token != k.good {
		return false
	}
	k.users = append(k.users, o.Username)
	return true
}

func (k *tokens) admit(token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.good = token
}

// TestRotatedToken: a connection that breaks comes back with the token of the file, though the old one was refused
// several times in between. The name of its user is the tenant.
func TestRotatedToken(t *testing.T) {
	door := &tokens{good: "old"}
	s := bustest.RunWith(t, &natsserver.Options{CustomClientAuthentication: door})
	path := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	refused := make(chan struct{}, 100)
	c, err := client.Connect(s.ClientURL(), client.Options{Tenant: "billing", Token: client.TokenFile(path)},
		nats.ReconnectWait(1), nats.ReconnectJitter(0, 0), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrAuthorization) {
				select {
				case refused <- struct{}{}:
				default:
				}
			}
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	door.admit("new")
	for _, id := range connections(t, s) {
		if err := s.DisconnectClientByID(id); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 { // NATS gives up after two refusals, unless it is told to go on
		<-refused
	}
	write("new")
	testkit.Until(t, "the connection comes back", func() bool {
		door.mu.Lock()
		defer door.mu.Unlock()
		return len(door.users) == 2 && door.users[0] == "billing" && door.users[1] == "billing"
	})
}

func connections(t *testing.T, s *natsserver.Server) (ids []uint64) {
	t.Helper()
	z, err := s.Connz(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range z.Conns {
		ids = append(ids, c.Cid)
	}
	return ids
}

// TestDenied: a user of NATS without the permission learns that, and not only that no answer came.
func TestDenied(t *testing.T) {
	s := bustest.RunWith(t, &natsserver.Options{Users: []*natsserver.User{{
		Username: "ann", Password: "x", Permissions: &natsserver.Permissions{Publish: &natsserver.SubjectPermission{Allow: []string{"other"}}},
	}}})
	c, err := client.Connect(s.ClientURL(), client.Options{Tenant: "billing", NoRetry: true, Timeout: 500 * time.Millisecond}, nats.UserInfo("ann", "x"),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Get(t.Context(), "a"); !client.IsForbidden(err) || !strings.Contains(err.Error(), "carillon.v1.billing.jobs.get") {
		t.Error(err)
	}
}

// TestTokenFilesOfOthers: a file that others can read or change is refused, and a pipe does not hold the caller.
func TestTokenFilesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[os.FileMode]bool{0o600: true, 0o440: true, 0o644: false, 0o620: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if token, err := client.TokenFile(path)(); (err == nil) != good || good && token != "secret" {
			t.Errorf("mode %o: %q, %v", mode, token, err)
		}
	}
	if _, err := client.TokenFile(os.DevNull)(); err == nil || !strings.Contains(err.Error(), "it is a device") {
		t.Errorf("a device: %v", err)
	}
}
