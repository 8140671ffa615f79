package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// forbiddenSubjects are what no user of the tenant billing may have: those of others, of the log, and of Carillon.
func forbiddenSubjects(inbox string) (publish, subscribe []string) {
	common := []string{
		"carillon.v1.shop.jobs.list", "carillon.log.0", "carillon.shard.0", "carillon.cluster.0.handover", "carillon.cluster.0.who", "carillon.backup.0.open",
		"carillon.dead.shop", "carillon.events.shop.run.dead", "shop.run", inbox,
	}
	publish = append(common, "carillon.dead.billing", "carillon.events.billing.run.dead", "billing.run",
		"$JS.API.STREAM.MSG.GET.CARILLON_LOG_carillon_0", "$JS.API.DIRECT.GET.CARILLON_LOG_carillon_0", "$JS.API.STREAM.NAMES", "$JS.API.CONSUMER.CREATE.CARILLON_LOG_carillon_0", "$KV.x.y")
	return publish, append(common, ">", "carillon.>", "carillon.v1.>", "_INBOX.>", "carillon.*.shop", "$JS.>")
}

// TestNATSPermissions starts NATS with the printed permissions: a tenant has what it needs, and nothing of others.
func TestNATSPermissions(t *testing.T) {
	w := startTemplate(t)
	for _, tenant := range []string{"billing", "shop"} {
		w.useTenant(w.connect(tenant, nats.CustomInboxPrefix("_INBOX_"+tenant)), tenant)
	}
	c := w.connect("billing", nats.CustomInboxPrefix("_INBOX_billing"))
	publish, subscribe := forbiddenSubjects("_INBOX_shop.x.y")
	for _, subject := range publish {
		refused(t, c, "publish to", subject, func() error { return c.Publish(subject, []byte("forged")) })
	}
	for _, subject := range subscribe {
		refused(t, c, "subscribe to", subject, func() error { _, err := c.SubscribeSync(subject); return err })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // NATS answers no request that it does not permit
	defer cancel()
	if _, err := w.client(c, "shop").List(ctx, client.ListRequest{}); !client.IsForbidden(err) {
		t.Errorf("a list of another tenant: %v", err)
	}
	w.useCommand("--inbox", "_INBOX_billing")
	// A message to itself would give it the right to answer anywhere.
	refused(t, c, "publish to", "billing.run", func() error { return c.PublishRequest("billing.run", "carillon.v1.shop.jobs.delete", nil) })
}

// refused checks that NATS reports that an act on a subject is not permitted.
func refused(t *testing.T, c *connection, act, subject string, do func() error) {
	t.Helper()
	if err := do(); err != nil {
		t.Fatal(err)
	}
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case err := <-c.denied:
			if strings.Contains(err.Error(), `"`+subject+`"`) {
				return
			}
		case <-timeout.C:
			t.Errorf("the user may %s %s", act, subject)
			return
		}
	}
}

// TestNATSAccounts starts NATS with the printed accounts: what a tenant sends or awaits beyond its subjects stays in its
// account.
func TestNATSAccounts(t *testing.T) {
	w := startTemplate(t, "--accounts")
	for _, tenant := range []string{"billing", "shop"} {
		w.useTenant(w.connect(tenant), tenant)
	}
	w.useCommand()
	c, other, own := w.connect("billing"), w.connect("shop"), w.connect(natsOwnUser)
	if _, err := w.client(c, "shop").List(t.Context(), client.ListRequest{}); !errors.Is(err, nats.ErrNoResponders) {
		t.Errorf("a list of another tenant: %v", err)
	}
	publish, subscribe := forbiddenSubjects("_INBOX.x.y")
	heard := make(chan string, 1000)
	for _, listener := range []*connection{other, own} {
		if _, err := listener.Subscribe(">", func(m *nats.Msg) {
			if string(m.Data) == "forged" && !strings.HasPrefix(m.Subject, "billing.") {
				heard <- m.Subject
			}
		}); err != nil {
			t.Fatal(err)
		}
		if err := listener.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for _, subject := range publish {
		if err := c.Publish(subject, []byte("forged")); err != nil {
			t.Fatal(err)
		}
	}
	var subs []*nats.Subscription
	for _, subject := range subscribe {
		sub, err := c.SubscribeSync(subject)
		if err != nil {
			t.Fatal(err)
		}
		subs = append(subs, sub)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	// A change of the other tenant writes to the log, and sends a run and events.
	shop := w.client(other, "shop")
	run, err := shop.Trigger(t.Context(), client.TriggerRequest{Name: "plain"})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the run has arrived", func() bool {
		run, err = shop.Run(t.Context(), run.RunID)
		return err == nil && run.Status == "succeeded"
	})
	if err := errors.Join(c.Flush(), own.Flush(), other.Flush()); err != nil {
		t.Fatal(err)
	}
	for _, sub := range subs {
		for m, err := sub.NextMsg(time.Millisecond); err == nil; m, err = sub.NextMsg(time.Millisecond) {
			if strings.Contains(fmt.Sprint(m.Subject, string(m.Data)), "shop") && string(m.Data) != "forged" {
				t.Errorf("the subscription to %s has %s", sub.Subject, m.Subject)
			}
		}
	}
	close(heard)
	for subject := range heard {
		t.Errorf("a message to %s has left the account", subject)
	}
}

// TestNATSTemplateInput: names that would grant more than a tenant, or that make no configuration, are refused.
func TestNATSTemplateInput(t *testing.T) {
	for args, want := range map[string]string{
		"":                                        "--tenant",
		"--tenant carillon":                       "the subjects carillon.> are those of Carillon",
		"--tenant _INBOX_x":                       "or inboxes",
		"--tenant x --prefix x":                   "those of Carillon",
		"--tenant a.b":                            "--tenant: ",
		"--tenant a} --prefix x":                  "--tenant: ",
		"--tenant a-b,a_b":                        "the same variable CARILLON_NATS_A_B",
		"--tenant password":                       "the same variable CARILLON_NATS_PASSWORD",
		"--tenant a,a":                            "the same variable",
		"--tenant a --prefix a.b":                 "--prefix",
		"--tenant a --prefix >":                   "--prefix",
		"--tenant a --inbox carillon":             "--inbox",
		"--tenant a --inbox x.y":                  "--inbox",
		"--tenant a" + strings.Repeat(",b", 1000): "at most 1000",
	} {
		status, out, errs := command(append([]string{"auth", "nats-template"}, strings.Fields(args)...)...)
		if status != exitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%.40s: status %d, %s%s; want %q", args, status, out, errs, want)
		}
	}
	if _, out, _ := command("auth", "nats-template", "--tenant", "a", "--inbox", "_CLIENT"); !strings.Contains(out, "--inbox-prefix _CLIENT_\n") {
		t.Errorf("no hint at --inbox-prefix:\n%s", out)
	}
}
