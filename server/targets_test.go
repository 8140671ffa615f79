package server_test

import (
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// refusal returns the server's reason to refuse a put; "" if it accepts it.
func refusal(t *testing.T, nc *nats.Conn, target map[string]string) (code, field, message string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": "a", "schedule": "@yearly", "target": target})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := nc.Request("carillon.v1.default.jobs.put", body, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Error struct{ Code, Field, Message string } `json:"error"`
	}
	if err := json.Unmarshal(reply.Data, &got); err != nil {
		t.Fatal(err)
	}
	return got.Error.Code, got.Error.Field, got.Error.Message
}

// TestURLsOverNATS puts http targets as a caller of NATS would. Always is what the server refuses also when private
// targets are allowed.
func TestURLsOverNATS(t *testing.T) {
	tests := []struct {
		urls    string // separated by spaces
		refused bool
		always  bool
	}{
		{"https://example.com/x http://example.com:8080/ http://EXAMPLE.com./ http://8.8.8.8/ http://[2606:4700::1111]:443/", false, false},
		{"http://example.com:1/ http://example.com:65535/ http://example.com:/ https://a_b.example.com/ https://xn--bcher-kva.example/", false, false},
		{"http://127.0.0.1/ http://127.8.9.1:80/ http://[::1]/ http://[0:0:0:0:0:0:0:1]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]/ http://[::1%25lo]/", true, false},
		{"http://localhost/ http://LOCALHOST:80/ http://localhost./ http://a.localhost/ http://localhost.localdomain/ http://ip6-localhost/", true, false},
		{"http://10.0.0.1/ http://172.16.0.1/ http://192.168.0.1/ http://[::ffff:192.168.0.1]/ http://100.64.0.1/ http://169.254.1.1/", true, false},
		{"http://192.0.0.1/ http://192.0.2.1/ http://198.18.0.1/ http://198.19.255.255/ http://198.51.100.1/ http://203.0.113.1/ http://240.0.0.1/", true, false},
		{"http://[fc00::1]/ http://[fe80::1]/ http://[fe80::1%25eth0]/ http://[fec0::1]/ http://[2001:db8::1]/ http://[100::1]/ http://[3fff::1]/ http://[5f00::1]/ http://[4000::1]/", true, false},
		{"http://[64:ff9b::7f00:1]/ http://[64:ff9b::8.8.8.8]/ http://[64:ff9b:1::1]/", true, false},
		{"http://[2002:7f00:1::]/ http://[2001::1]/ http://[::127.0.0.1]/ http://[::8.8.8.8]/ http://[::ffff:0:8.8.8.8]/ http://[ff02::1]/ http://[::]/", true, true},
		{"http://0.0.0.0/ http://0.1.2.3/ http://224.0.0.1/ http://255.255.255.255/ http://168.63.129.16/ http://[::ffff:168.63.129.16]/", true, true},
		{"http://169.254.169.254/latest http://[fd00:ec2::254]/ http://[64:ff9b::a9fe:a9fe]/ http://100.100.100.200/ http://192.0.0.192/ http://metadata.google.internal/", true, true},
		{"http://2130706433/ http://0x7f000001/ http://017700000001/ http://127.1/ http://0x7f.1/ http://0177.0.0.1/ http://127.0.0.01/ http://127.0.0.1./ http://8.8.8.8./ http://0/", true, true},
		{"http://%E2%91%A0%E2%91%A1%E2%91%A6.0.0.1/ http://１２７.0.0.1/ http://ｌｏｃａｌｈｏｓｔ/ http://127。0。0。1/ http://a!b/ http://./", true, true},
		{"http://example.com:0/ http://example.com:65536/ http://example.com:99999999999/ http://8.8.8.8:0/", true, true},
	}
	for _, allowed := range []bool{false, true} {
		o := options(filepath.Join(t.TempDir(), "data"))
		o.AllowPrivateTargets = allowed
		s := startWith(t, o)
		nc, _ := connect(t, s)
		for _, tc := range tests {
			for url := range strings.FieldsSeq(tc.urls) {
				code, field, message := refusal(t, nc, map[string]string{"kind": "http", "url": url})
				switch want := tc.always || tc.refused && !allowed; {
				case want && (code != "invalid_target" || field != "target.url" || message == ""):
					t.Errorf("%s, private targets allowed %t: %q %q %q; want it refused", url, allowed, code, field, message)
				case !want && code != "":
					t.Errorf("%s, private targets allowed %t: %s", url, allowed, message)
				}
			}
		}
	}
}

// TestSubjectsOverNATS puts targets of NATS as a caller of NATS would.
func TestSubjectsOverNATS(t *testing.T) {
	nc, _ := connect(t, start(t, filepath.Join(t.TempDir(), "data")))
	tests := []struct{ subjects, want string }{ // want is a part of the refusal, "" is none
		{"reports.run r a._b a._INBOX.b carillons.v1 INBOX.a a.$b", ""},
		{"_INBOX.a _INBOX.a.b _INBOX_alice.b _INBOX", "_INBOX belong to NATS"},
		{"_R_.abc _R_", "_R_ belong to NATS"},
		{"_GR_.cluster.server.carillon.v1.default.jobs.put", "_GR_ belong to NATS"},
		{"_CINBOX.a", "_CINBOX belong to NATS"},
		{"_a.b _x", "begins with _"},
		{"$SYS.REQ.SERVER.PING $JS.API.STREAM.DELETE.x $SRV.PING $KV.a.b $G", "$ belong to NATS"},
		{"carillon carillon.v1.default.jobs.delete carillon.events.default.run.dead", "belong to Carillon"},
	}
	for _, tc := range tests {
		for subject := range strings.FieldsSeq(tc.subjects) {
			for _, kind := range []string{"nats", "request", "jetstream"} {
				code, field, message := refusal(t, nc, map[string]string{"kind": kind, "subject": subject})
				if tc.want == "" && code != "" || tc.want != "" && (code != "invalid_target" || field != "target.subject" || !strings.Contains(message, tc.want)) {
					t.Errorf("%s %s: %q %q %q; want %q", kind, subject, code, field, message, tc.want)
				}
			}
		}
	}
}

// runOnce puts a job without retries, triggers it, and returns the run when it has finished.
func runOnce(t *testing.T, c *client.Client, target client.Target) client.Run {
	t.Helper()
	j := client.Job{Name: "once", Schedule: "@yearly", Target: target, Retry: client.Retry{MaxAttempts: 1}}
	if _, _, err := c.Put(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	run, err := c.Trigger(t.Context(), client.TriggerRequest{Name: j.Name})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, "the run has finished", func() bool {
		if run, err = c.Run(t.Context(), run.RunID); err != nil {
			t.Fatal(err)
		}
		return run.Status == "succeeded" || run.Status == "dead"
	})
	return run
}

// TestServerDialsNotItself sends webhooks to each address where the server listens, though private targets are
// allowed: a job would have the rights of the server's own machine there.
func TestServerDialsNotItself(t *testing.T) {
	o := options(filepath.Join(t.TempDir(), "data"))
	o.ProfileListen = bustest.FreeAddrs(t, 1)[0]
	s := startWith(t, o)
	_, c := connect(t, s)
	victim := client.Job{Name: "victim", Schedule: "@yearly", Target: client.Target{Kind: "nats", Subject: "x"}}
	if _, _, err := c.Put(t.Context(), victim); err != nil {
		t.Fatal(err)
	}
	own := strings.TrimPrefix(s.Ready().HTTP, "http://")
	_, port, _ := net.SplitHostPort(own)
	for _, at := range []string{own, "localhost:" + port, "[::ffff:127.0.0.1]:" + port, strings.TrimPrefix(s.Ready().NATS, "nats://"), o.ProfileListen} {
		run := runOnce(t, c, client.Target{Kind: "http", Method: "DELETE", URL: "http://" + at + "/api/v1/jobs/victim"})
		if run.Status != "dead" || !strings.Contains(run.Error, "is an address of this server itself") {
			t.Errorf("%s: the run is %s: %s", at, run.Status, run.Error)
		}
	}
	if _, err := c.Get(t.Context(), "victim"); err != nil {
		t.Errorf("the victim: %v", err)
	}
}

// TestWebhookRoots has a webhook whose certificate is signed by an authority that no system knows.
func TestWebhookRoots(t *testing.T) {
	hook := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	hook.Config.ErrorLog = log.New(io.Discard, "", 0)
	hook.StartTLS()
	t.Cleanup(hook.Close)
	roots := x509.NewCertPool()
	roots.AddCert(hook.Certificate())
	for want, pool := range map[string]*x509.CertPool{"succeeded": roots, "dead": nil} {
		o := options(filepath.Join(t.TempDir(), "data"))
		o.WebhookRoots = pool
		s := startWith(t, o)
		_, c := connect(t, s)
		if run := runOnce(t, c, client.Target{Kind: "http", URL: hook.URL}); run.Status != want || want == "dead" && !strings.Contains(run.Error, "certificate") {
			t.Errorf("the run is %s: %s; want %s", run.Status, run.Error, want)
		}
	}
}
