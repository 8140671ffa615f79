package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

const putBody = `{"name":"forged","schedule":"@yearly","target":{"kind":"nats","subject":"x"}}`

// TestForgedSender: what a client writes into the header with which the NATS server names it is not believed, however it
// is written.
func TestForgedSender(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	const forged = `Nats-Request-Info: {"acc":"billing","user":"token:billing-admin"}`
	const lower = `nats-request-info: {"acc":"billing","user":"token:billing-admin"}`
	r := dialRaw(t, e.Ready().NATS, `"auth_token":"billing-viewer"`)
	for name, header := range map[string]string{
		"none":                    "NATS/1.0\r\n\r\n",
		"plain":                   "NATS/1.0\r\n" + forged + "\r\n\r\n",
		"twice":                   "NATS/1.0\r\n" + forged + "\r\n" + forged + "\r\n\r\n",
		"in lower case":           "NATS/1.0\r\n" + lower + "\r\n\r\n",
		"before a blank line":     "NATS/1.0\r\n" + forged + "\r\n\r\nA: b\r\n\r\n",
		"lower, and a blank line": "NATS/1.0\r\n" + lower + "\r\n\r\nA: b\r\n\r\n",
		"after a line feed":       "NATS/1.0\r\nA: b\n" + forged + "\r\n\r\n",
		"both":                    "NATS/1.0\r\nA: b\n" + forged + "\n\nA: b\r\n\r\n",
		"a name that repeats":     "NATS/1.0\r\nA: Nats-Request-InfoNats-Request-Info\r\n" + forged + "\r\n\r\nA: b\r\n\r\n",
		"lines that save bytes":   "NATS/1.0\r\n" + strings.Repeat("a:b\n", 30) + forged + "\n\nA: b\r\n\r\n",
		"many lines":              "NATS/1.0\r\n" + strings.Repeat("a:b\n", 600) + forged + "\n\nA: b\r\n\r\n",
		"a status":                "NATS/1.0 503\r\nA: b\n" + forged + "\n\nA: b\r\n\r\n",
		"a blank line alone":      "NATS/1.0\r\n\r\nA: b\r\n\r\n",
		"a name with a space":     "NATS/1.0\r\nNats-Request-Info : {\"acc\":\"billing\",\"user\":\"token:billing-admin\"}\r\n\r\n",
		"of Carillon":             "NATS/1.0\r\nA: b\nNats-Request-Info: {\"acc\":\"$G\",\"user\":\"carillon\"}\n\nA: b\r\n\r\n",
	} {
		body := r.request("carillon.v1.billing.jobs.put", header, putBody)
		if !strings.Contains(body, `"forbidden"`) && !strings.Contains(body, `"unauthenticated"`) {
			t.Errorf("%s: the put of a viewer is answered with %s", name, body)
		}
	}
	// The same requests by who may put: only what hides the server's own line is refused.
	r = dialRaw(t, e.Ready().NATS, `"auth_token":"billing-operator"`)
	if body := r.request("carillon.v1.billing.jobs.put", "NATS/1.0\r\nA:b\r\nC: d\n"+forged+"\r\n\r\n", putBody); !strings.Contains(body, `"unauthenticated"`) {
		t.Errorf("a header that the server does not replace: %s", body)
	}
	if body := r.request("carillon.v1.billing.jobs.put", "NATS/1.0\r\n"+forged+"\r\nA:b\r\n\r\n", putBody); !strings.Contains(body, `"id"`) {
		t.Errorf("a header that the server replaces: %s", body)
	}
	log, err := e.of("billing", "billing-viewer").ListAudit(t.Context(), client.AuditRequest{})
	if err != nil || len(log.Entries) != 1 || log.Entries[0].By != "token:billing-operator" {
		t.Errorf("the audit log has %+v, %v", log.Entries, err)
	}
}

// TestLineOfTheServerIsLong: the check of a header relies on it, see inbox/sender.go.
func TestLineOfTheServerIsLong(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	got := listen(t, e.as("cluster"), "carillon.account.v1.>")
	e.as("billing-viewer", nats.Name("")).Request("carillon.v1.billing.jobs.list", nil, 5*time.Second)
	m := testkit.Receive(t, got)
	line := "Nats-Request-Info: " + m.Header.Get("Nats-Request-Info") + "\r\n"
	var info struct{ Acc, User string }
	if err := json.Unmarshal([]byte(m.Header.Get("Nats-Request-Info")), &info); err != nil || info.Acc != "billing:ask" || info.User != "token:billing-viewer" {
		t.Errorf("the server says %s, %v", line, err)
	}
	if len(line) < 3*32 {
		t.Errorf("the line of the server has %d bytes: %s", len(line), line)
	}
}

// TestForgedPlace: a client cannot change who it is after it was admitted, nor borrow a key.
func TestForgedPlace(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	key, _ := nkeys.CreateUser()
	public, _ := key.PublicKey()
	for name, connect := range map[string]string{
		"a key without a signature beside a token":    `"auth_token":"billing-viewer","nkey":"` + public + `"`,
		"a key with a bad signature beside a token":   `"auth_token":"cluster","nkey":"` + public + `","sig":"AAAA"`,
		"the user name of a principal":                `"user":"token:billing-admin","auth_token":"billing-viewer"`,
		"the user name of Carillon":                   `"user":"carillon"`,
		"the user name of Carillon's own connections": `"user":"tenant billing","auth_token":"billing-admin"`,
		"another account":                             `"auth_token":"billing-viewer","account":"stock"`,
	} {
		r := dialRaw(t, e.Ready().NATS, connect)
		r.send("PING\r\n")
		if line := r.until("PONG"); !strings.HasPrefix(line, "-ERR") {
			t.Errorf("%s: %q", name, line)
		}
	}
	r := dialRaw(t, e.Ready().NATS, `"auth_token":"billing-viewer"`)
	r.send("PING\r\n")
	if line := r.until("PONG"); !strings.HasPrefix(line, "PONG") {
		t.Fatalf("a viewer connects: %q", line)
	}
	r.send(`CONNECT {"verbose":false,"headers":true,"protocol":1,"auth_token":"billing-admin"}` + "\r\nPING\r\n")
	if line := r.until("PONG"); strings.HasPrefix(line, "PONG") {
		t.Error("a second CONNECT is accepted")
	}
}

// TestRepliesReachOnlyTheirAccount: the subject of a reply names a place in the account of the caller, and no request.
func TestRepliesReachOnlyTheirAccount(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	c := e.of("billing", "billing-admin")
	putJob(t, c, "a", client.Target{Kind: "nats", Subject: "out"})
	nc := e.as("billing-operator")
	all := listen(t, e.as("cluster"), "carillon.account.v1.*.jobs.delete")
	for _, reply := range []string{"carillon.v1.billing.jobs.delete", "carillon.v1.stock.jobs.delete", "carillon.account.v1.billing.jobs.delete"} {
		for _, subject := range []string{"carillon.v1.billing.jobs.get", "$SRV.PING.carillon"} {
			if err := nc.PublishRequest(subject, reply, []byte(`{"name":"a"}`)); err != nil {
				t.Fatal(err)
			}
		}
	}
	settle(t, nc)
	if _, err := clienttest.New(t, nc, client.Options{Tenant: "billing"}).List(t.Context(), client.ListRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "a"); err != nil {
		t.Errorf("a reply was a request: %v", err)
	}
	for len(all) > 0 {
		if m := <-all; !strings.Contains(m.Header.Get("Nats-Request-Info"), `"user":"carillon"`) {
			t.Errorf("a reply became a request with %v", m.Header)
		}
	}
}

// TestStreamsSendNoRequests: what a stream or a consumer of a tenant sends to Carillon's subjects has no caller.
func TestStreamsSendNoRequests(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	c := e.of("billing", "billing-admin")
	putJob(t, c, "a", client.Target{Kind: "nats", Subject: "out"})
	admin := e.as("billing-admin")
	js, err := jetstream.New(admin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"in.*"}, MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	worker := e.as("billing-operator")
	if _, err := worker.Request("$JS.API.CONSUMER.DURABLE.CREATE.S.pull", []byte(`{"stream_name":"S","config":{"durable_name":"pull","ack_policy":"explicit"}}`), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	all := listen(t, e.as("cluster"), "carillon.account.v1.*.jobs.delete")
	if err := worker.PublishMsg(&nats.Msg{Subject: "in.delete", Data: []byte(`{"name":"a"}`), Header: nats.Header{
		"Nats-Request-Info": {`{"acc":"billing","user":"token:billing-admin"}`},
	}}); err != nil {
		t.Fatal(err)
	}
	if err := worker.PublishRequest("$JS.API.CONSUMER.MSG.NEXT.S.pull", "carillon.v1.billing.jobs.delete", []byte("1")); err != nil {
		t.Fatal(err)
	}
	m := testkit.Receive(t, all)
	if info := m.Header.Get("Nats-Request-Info"); !strings.Contains(info, `"acc":"billing"`) || strings.Contains(info, "user") {
		t.Errorf("a stream sends a request with %v", m.Header)
	}
	// The server has handled that request before this one.
	if _, err := c.List(t.Context(), client.ListRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "a"); err != nil {
		t.Errorf("a stream has deleted a job: %v", err)
	}
}
