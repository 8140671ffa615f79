package dispatch

import (
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

func natsTarget(subject string) job.Target {
	return job.Target{Kind: job.TargetNATS, Subject: subject}
}

func TestNATSHeadersKeepTheirCaseAndTheirMessage(t *testing.T) {
	s := startNATS(t, nil)
	messages := make(chan *nats.Msg, 2)
	subscribe(t, dial(t, s.ClientURL()), "a", func(m *nats.Msg) { messages <- m })
	d := start(t, Options{}, s.ClientURL())

	first := deliveryTo(natsTarget("a"), 1)
	first.Headers = []job.Pair{{Key: "traceparent", Value: "00-1"}, {Key: "X-TEAM", Value: "billing"}}
	testkit.Receive(t, launch(d, first))
	m := testkit.Receive(t, messages)
	want := map[string]string{"traceparent": "00-1", "X-TEAM": "billing", "Nats-Msg-Id": first.Run.String()}
	for name, value := range want {
		if got := m.Header[name]; len(got) != 1 || got[0] != value {
			t.Errorf("header %s is %q; want %q", name, got, value)
		}
	}
	testkit.Receive(t, launch(d, deliveryTo(natsTarget("a"), 2)))
	if m := testkit.Receive(t, messages); len(m.Header) != 7 {
		t.Errorf("a message without headers of its own has %d: %v", len(m.Header), m.Header)
	}
}

func TestNATSRefusesWhatTheClientRefuses(t *testing.T) {
	s := startNATS(t, func(o *server.Options) { o.MaxPayload = 1024 })
	d := start(t, Options{}, s.ClientURL())
	del := deliveryTo(natsTarget("a"), 1)
	del.Payload = make([]byte, 2048)
	if o := testkit.Receive(t, launch(d, del)); !strings.Contains(o.Error, "maximum payload") {
		t.Errorf("error is %q; want one about the maximum payload", o.Error)
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(natsTarget("a"), 2))); o.Error != "" {
		t.Errorf("the next one has error %q", o.Error)
	}
}

// TestNATSDenied refuses a part of the messages on the server's side, in the middle of others, for
// every kind that publishes.
func TestNATSDenied(t *testing.T) {
	s := startNATS(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "dispatch", Password: "x", Permissions: &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"secret.>"}}}},
		}
	})
	d := start(t, Options{}, s.ClientURL(), nats.UserInfo("dispatch", "x"))
	var good, bad []<-chan job.Outcome
	for n := range 50 {
		good = append(good, launch(d, deliveryTo(natsTarget("open"), n)))
		bad = append(bad, launch(d, deliveryTo(natsTarget("secret.a"), n)))
	}
	bad = append(bad,
		launch(d, deliveryTo(job.Target{Kind: job.TargetRequest, Subject: "secret.b"}, 0)),
		launch(d, deliveryTo(job.Target{Kind: job.TargetJetStream, Subject: "secret.c"}, 0)))
	for n, c := range good {
		if o := testkit.Receive(t, c); o.Error != "" {
			t.Errorf("permitted launch %d has error %q", n, o.Error)
		}
	}
	for n, c := range bad {
		if o := testkit.Receive(t, c); !strings.Contains(o.Error, "does not permit publishing") {
			t.Errorf("denied launch %d has error %q", n, o.Error)
		}
	}
	if denied := d.Stats().NATS.Denied; denied != uint64(len(bad)) {
		t.Errorf("%d messages are counted as denied; want %d", denied, len(bad))
	}
}

func TestNewFailsWithoutAnInbox(t *testing.T) {
	s := startNATS(t, func(o *server.Options) {
		o.Users = []*server.User{
			{Username: "dispatch", Password: "x", Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"_INBOX.>"}}}},
		}
	})
	n, err := ConnectNATS(s.ClientURL(), nats.UserInfo("dispatch", "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if _, err := New(Options{NATS: n}); err == nil || !strings.Contains(err.Error(), "may not receive replies") {
		t.Errorf("error is %v; want one about replies", err)
	}
}

// TestNATSInProcess goes to an embedded server without a socket.
func TestNATSInProcess(t *testing.T) {
	s := startNATS(t, func(o *server.Options) { o.DontListen = true })
	d := start(t, Options{}, "nats://unused:1", nats.InProcessServer(s))
	for _, c := range launchAll(d, natsTarget("a"), 100) {
		if o := testkit.Receive(t, c); o.Error != "" {
			t.Errorf("error is %q", o.Error)
		}
	}
}

// TestNATSCallbacksOfTheCaller are called beside those of the package.
func TestNATSCallbacksOfTheCaller(t *testing.T) {
	s := startNATS(t, nil)
	v := newValve(t, s.Addr().String())
	calls := make(chan string, 10)
	d := start(t, Options{}, "nats://127.0.0.1:1, "+v.url(),
		nats.ConnectHandler(func(*nats.Conn) { calls <- "connect" }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { calls <- "disconnect" }),
		nats.ReconnectHandler(func(*nats.Conn) { calls <- "reconnect" }))
	for _, want := range []string{"connect", "disconnect", "reconnect"} {
		if got := testkit.Receive(t, calls); got != want {
			t.Errorf("the callback is %s; want %s", got, want)
		}
		if want == "connect" {
			v.cut()
		}
	}
	if _, err := ConnectNATS("nats://127.0.0.1:1"); err == nil {
		t.Error("connected to nobody")
	}
	if !d.Stats().NATS.Connected {
		t.Error("it does not count as connected")
	}
}

func TestNoNATS(t *testing.T) {
	d := start(t, Options{}, "")
	for _, kind := range []job.TargetKind{job.TargetNATS, job.TargetRequest, job.TargetJetStream} {
		if o := testkit.Receive(t, launch(d, deliveryTo(job.Target{Kind: kind, Subject: "a"}, 0))); o.Error != errNoNATS.Error() {
			t.Errorf("%s: error is %q", kind, o.Error)
		}
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(job.Target{}, 0))); o.Error != errNoKind.Error() {
		t.Errorf("no kind: error is %q", o.Error)
	}
}
