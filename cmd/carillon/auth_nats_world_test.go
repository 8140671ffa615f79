package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

// templateWorld is a NATS server with a printed configuration, and a node of a cluster on it.
type templateWorld struct {
	t    *testing.T
	nats *natsserver.Server
}

// startTemplate starts NATS with the configuration that the command prints, and a Carillon.
func startTemplate(t *testing.T, args ...string) *templateWorld {
	t.Helper()
	status, text, errs := command(append([]string{"auth", "nats-template", "--tenant", "billing,shop"}, args...)...)
	if status != exitDone {
		t.Fatal(errs)
	}
	for _, name := range []string{"PASSWORD", "BILLING", "SHOP"} {
		t.Setenv("CARILLON_NATS_"+name, "secret-of-"+strings.ToLower(name))
	}
	// JetStream is the operator's: a block for the server, and a line for an account.
	text = strings.Replace(text, "  CARILLON: {\n", "  CARILLON: {\n    jetstream: enabled\n", 1)
	file := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(file, []byte(text+"\njetstream {store_dir: "+t.TempDir()+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	opts, err := natsserver.ProcessConfigFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	w := &templateWorld{t, bustest.RunWith(t, opts)}
	s, err := server.Start(t.Context(), server.Options{
		Dir: t.TempDir(), HTTPListen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), Events: true,
		NATSURL: strings.Replace(w.nats.ClientURL(), "://", "://carillon:secret-of-password@", 1), ClusterName: "c", Node: "a", NATSSyncs: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return w
}

// connection is a user's connection, which hears of what NATS does not permit.
type connection struct {
	*nats.Conn
	denied chan error
}

func (w *templateWorld) connect(tenant string, more ...nats.Option) *connection {
	w.t.Helper()
	c := &connection{denied: make(chan error, 100)}
	password := "secret-of-" + tenant
	if tenant == natsOwnUser {
		password = "secret-of-password"
	}
	more = append(more, nats.UserInfo(tenant, password), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		c.denied <- err
	}))
	var err error
	if c.Conn, err = nats.Connect(w.nats.ClientURL(), more...); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// client returns a client of a tenant over a connection.
func (w *templateWorld) client(c *connection, tenant string) *client.Client {
	w.t.Helper()
	made, err := client.New(c.Conn, client.Options{Tenant: tenant, NoRetry: true, Timeout: patience})
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// hears waits for a message with a text.
func hears(t *testing.T, sub *nats.Subscription, text string) {
	t.Helper()
	for {
		m, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatalf("%s: no %q: %v", sub.Subject, text, err)
		}
		if strings.Contains(string(m.Data), text) {
			return
		}
	}
}

// useTenant does with a tenant's user what its owner wants from it: the API, runs of each kind, dead letters, events.
func (w *templateWorld) useTenant(c *connection, tenant string) {
	w.t.Helper()
	t, ctx, cl := w.t, w.t.Context(), w.client(c, tenant)
	runs, err := c.SubscribeSync(tenant + ".run")
	if err != nil {
		t.Fatal(err)
	}
	dead, events := tenant+".dies", "carillon.events."+tenant+".>"
	told, err := c.SubscribeSync(events)
	if err != nil {
		t.Fatal(err)
	}
	letters, err := c.SubscribeSync("carillon.dead." + tenant)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Subscribe(tenant+".ask", func(m *nats.Msg) { _ = m.Respond([]byte("done")) }); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil || c.LastError() != nil {
		t.Fatalf("%s: refused: %v, %v", tenant, err, c.LastError())
	}
	for name, target := range map[string]client.Target{
		"plain": {Kind: "nats", Subject: tenant + ".run"}, "asks": {Kind: "request", Subject: tenant + ".ask"}, "dies": {Kind: "request", Subject: dead},
	} {
		job := client.Job{Name: name, Schedule: "@yearly", Target: target, Payload: []byte(`"of ` + tenant + `"`)}
		job.Retry.MaxAttempts = 1
		if _, _, err := cl.Put(ctx, job); err != nil {
			t.Fatalf("%s: put: %v", tenant, err)
		}
		run, err := cl.Trigger(ctx, client.TriggerRequest{Name: name})
		if err != nil {
			t.Fatalf("%s: trigger: %v", tenant, err)
		}
		want := map[bool]string{true: "dead", false: "succeeded"}[name == "dies"]
		testkit.Until(t, "the run of "+name+" is "+want, func() bool {
			run, err = cl.Run(ctx, run.RunID)
			return err == nil && string(run.Status) == want
		})
	}
	hears(t, runs, "of "+tenant)
	hears(t, letters, "of "+tenant)
	hears(t, told, `"tenant":"`+tenant+`"`)
	if _, err := c.Request("$SRV.PING.carillon", nil, patience); err != nil {
		t.Errorf("%s: PING: %v", tenant, err)
	}
}

// useCommand logs in with the command, as the head of the configuration says, and uses the context.
func (w *templateWorld) useCommand(more ...string) {
	w.t.Helper()
	useContexts(w.t, nil)
	w.t.Setenv("CARILLON_TOKEN", "secret-of-billing")
	status, out, errs := command(append([]string{"login", "x", "--server", w.nats.ClientURL(), "--tenant", "billing"}, more...)...)
	if status != exitDone {
		w.t.Fatalf("login: %s%s", out, errs)
	}
	w.t.Setenv("CARILLON_TOKEN", "")
	if status, out, errs := command("job", "list"); status != exitDone || !strings.Contains(out, "plain") {
		w.t.Errorf("job list: status %d, %s%s", status, out, errs)
	}
}
