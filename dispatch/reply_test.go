package dispatch

import (
	"encoding/base64"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

func requestTarget(subject string) job.Target {
	return job.Target{Kind: job.TargetRequest, Subject: subject}
}

func streamTarget(subject string) job.Target {
	return job.Target{Kind: job.TargetJetStream, Subject: subject}
}

func TestRequestReplies(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	answer := func(subject string, header nats.Header) {
		subscribe(t, nc, subject, func(m *nats.Msg) {
			_ = m.RespondMsg(&nats.Msg{Header: header, Data: []byte("an answer")})
		})
	}
	answer("ok", nil)
	answer("code", nats.Header{micro.ErrorCodeHeader: {"404"}})
	answer("text", nats.Header{micro.ErrorHeader: {"no such report"}})
	answer("both", nats.Header{micro.ErrorCodeHeader: {"409"}, micro.ErrorHeader: {"busy"}})
	d := start(t, Options{}, s.ClientURL())
	tests := []struct{ subject, want string }{
		{"ok", ""},
		{"code", "service error 404"},
		{"text", "service error: no such report"},
		{"both", "service error 409: busy"},
		{"nobody", `no service listens on the subject "nobody"`},
	}
	for _, tc := range tests {
		o := testkit.Receive(t, launch(d, deliveryTo(requestTarget(tc.subject), 0)))
		if o.Error != tc.want || o.LaunchedAt.IsZero() {
			t.Errorf("%s: outcome is %+v; want error %q", tc.subject, o, tc.want)
		}
	}
	leavesNothing(t, d)
}

func TestJetStreamStoresARunOnce(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	_, stream := addStream(t, nc, jetstream.StreamConfig{Name: "RUNS", Subjects: []string{"runs.>"}})
	d := start(t, Options{}, s.ClientURL())
	for attempt := range 3 {
		del := deliveryTo(streamTarget("runs.a"), 0)
		del.Attempt = uint32(attempt + 1)
		if o := testkit.Receive(t, launch(d, del)); o.Error != "" {
			t.Errorf("attempt %d has error %q", del.Attempt, o.Error)
		}
	}
	info, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Msgs != 1 {
		t.Errorf("the stream has %d messages; want 1", info.State.Msgs)
	}
}

func TestJetStreamRefusals(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	addStream(t, nc, jetstream.StreamConfig{Name: "SMALL", Subjects: []string{"small"}, MaxMsgSize: 300})
	subscribe(t, nc, "chat", func(m *nats.Msg) { _ = m.Respond([]byte("hi!")) })
	d := start(t, Options{}, s.ClientURL())
	large := deliveryTo(streamTarget("small"), 0)
	large.Payload = []byte(base64.StdEncoding.EncodeToString(make([]byte, 300)))
	tests := []struct {
		del  *job.Delivery
		want string
	}{
		{large, `the stream on "small" refused the message: message size exceeds maximum allowed (code 400, error 10054)`},
		{deliveryTo(streamTarget("nowhere"), 0), `no stream takes the subject "nowhere"`},
		{deliveryTo(streamTarget("chat"), 0), errNoAck.Error()},
	}
	for _, tc := range tests {
		if o := testkit.Receive(t, launch(d, tc.del)); o.Error != tc.want {
			t.Errorf("error is %q; want %q", o.Error, tc.want)
		}
	}
}

// TestJetStreamServerRestart restarts the server under launches to a stream, and launches what failed
// again. The stream then has every run exactly once, however many attempts it took.
func TestJetStreamServerRestart(t *testing.T) {
	const runs = 2000
	dir := t.TempDir()
	s := startNATS(t, func(o *server.Options) { o.StoreDir = dir })
	port := s.Addr().(*net.TCPAddr).Port
	nc := dial(t, s.ClientURL())
	addStream(t, nc, jetstream.StreamConfig{Name: "RUNS", Subjects: []string{"runs"}})
	nc.Close()
	d := start(t, Options{}, s.ClientURL())

	outcomes, again := launcher(d, streamTarget("runs"), runs)
	for n := range runs {
		again(n, 1)
		if n == runs/2 {
			s.Shutdown()
		}
	}
	s.WaitForShutdown()
	s = startNATS(t, func(o *server.Options) { o.StoreDir, o.Port = dir, port })
	for delivered := 0; delivered < runs; {
		o := testkit.Receive(t, outcomes)
		if o.Error == "" {
			delivered++
			continue
		}
		again(int(o.Run.At-1764576000000), o.Attempt+1)
	}
	js, err := jetstream.New(dial(t, s.ClientURL()))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "RUNS")
	if err != nil {
		t.Fatal(err)
	}
	if msgs := stream.CachedInfo().State.Msgs; msgs != runs {
		t.Errorf("the stream has %d messages; want %d", msgs, runs)
	}
}

func TestJudgeIgnoresForeignReplies(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	d := start(t, Options{}, s.ClientURL())
	prefix := d.link.replies.prefix
	for _, last := range []string{"0", "zz9", "!", strings.Repeat("z", 20)} {
		if err := nc.Publish(prefix+last, []byte("who asked?")); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if o := testkit.Receive(t, launch(d, deliveryTo(requestTarget("nobody"), 0))); !strings.HasPrefix(o.Error, "no service listens") {
		t.Errorf("error is %q", o.Error)
	}
}

// TestReplyNeedsItsSecret: who knows the inbox, and guesses the number of a request, cannot answer it.
func TestReplyNeedsItsSecret(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	asked := make(chan *nats.Msg, 1)
	subscribe(t, nc, "work", func(m *nats.Msg) { asked <- m })
	d := start(t, Options{}, s.ClientURL())
	outcome := launch(d, deliveryTo(requestTarget("work"), 0))
	m := testkit.Receive(t, asked)
	prefix := d.link.replies.prefix
	if !strings.HasPrefix(m.Reply, inbox.OfRuns+".") || !strings.HasPrefix(m.Reply, prefix+"1-") {
		t.Errorf("the reply subject is %s", m.Reply)
	}
	for _, last := range []string{"1", "1-", "1-0", "1-1", "-", "1-1-1", "1-" + strings.Repeat("z", 20), m.Reply[len(prefix):] + "0"} {
		if err := nc.Publish(prefix+last, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.RespondMsg(&nats.Msg{Header: nats.Header{micro.ErrorHeader: {"its own answer"}}}); err != nil {
		t.Fatal(err)
	}
	if o := testkit.Receive(t, outcome); o.Error != "service error: its own answer" {
		t.Errorf("error is %q", o.Error)
	}
	leavesNothing(t, d)
}

// TestReplyTokens: a token is read as it was written, and no two have the same secret.
func TestReplyTokens(t *testing.T) {
	secrets, seen := newSecrets(), make(map[uint64]bool)
	for n := range uint64(1000) {
		token := replyToken{number: n + 1, secret: secrets.Uint64()}
		if seen[token.secret] || parseReplyToken(token.subject("p."), "p.") != token {
			t.Fatalf("token %+v", token)
		}
		seen[token.secret] = true
	}
	if one, other := newSecrets(), newSecrets(); one.Uint64() == other.Uint64() {
		t.Error("two sources give the same secrets")
	}
}
