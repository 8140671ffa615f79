package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

// secured is a server alone with TLS on all of its listeners.
type secured struct {
	*Server
	authority *certs.Authority
	files     certs.Files
	tls       *tls.Config // of a client with a certificate
	web       *http.Client
}

// startSecured starts a server with TLS that verifies clients. Change may change the options.
func startSecured(t *testing.T, change func(*Options)) secured {
	t.Helper()
	a := certstest.NewAuthority(t)
	s := secured{authority: a, files: certstest.Files(t, a, certstest.Node("a"))}
	o := aloneOptions(t.TempDir())
	o.HTTPTLS, o.ListenTLS = s.files, s.files
	if change != nil {
		change(&o)
	}
	var err error
	if s.Server, err = Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	alice := certstest.Client("alice")
	s.tls = certstest.Trust(t, a, &alice)
	s.web = webClient(t, s.tls)
	return s
}

// webClient is a client over HTTP with a configuration of TLS.
func webClient(t *testing.T, c *tls.Config) *http.Client {
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}, Timeout: testkit.Patience}
	t.Cleanup(web.CloseIdleConnections)
	return web
}

// status asks for the status over HTTP.
func (s secured) status(t *testing.T) (st client.Status) {
	t.Helper()
	res, err := s.web.Get(s.Ready().HTTP + "/api/v1/status")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&st); err != nil {
		t.Fatal(err)
	}
	return st
}

// TestAllListenersWithTLS: jobs are put and fire over NATS with TLS, HTTP answers over TLS and with HTTP/1.1 only, and
// the addresses say so.
func TestAllListenersWithTLS(t *testing.T) {
	s := startSecured(t, nil)
	if r := s.Ready(); !strings.HasPrefix(r.HTTP, "https://127.0.0.1:") || !strings.HasPrefix(r.NATS, "tls://127.0.0.1:") {
		t.Errorf("ready as %+v", r)
	}
	nc, c := clienttest.Connect(t, s.Ready().NATS, nats.Secure(s.tls))
	fired, err := nc.SubscribeSync("out")
	if err != nil {
		t.Fatal(err)
	}
	job := client.Job{Name: "j", Schedule: "@every 100ms", Target: client.Target{Kind: "nats", Subject: "out"}}
	if _, _, err := c.Put(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if _, err := fired.NextMsg(testkit.Patience); err != nil {
		t.Fatal(err)
	}
	if st := s.status(t); st.Jobs != 1 || len(st.Warnings) != 0 {
		t.Errorf("%d jobs, warnings %q", st.Jobs, st.Warnings)
	}
	res, err := s.web.Get(s.Ready().HTTP + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	for _, want := range []string{`carillon_tls_ends_timestamp_seconds{file="cert",listener="http"} `, `{file="ca",listener="listen"} `, `carillon_tls_reloads_total{listener="listen"} 0`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in the metrics", want)
		}
	}
	if res.Proto != "HTTP/1.1" {
		t.Errorf("HTTP answers with %s", res.Proto)
	}
	h2 := s.tls.Clone()
	h2.NextProtos = []string{"h2"}
	if conn, err := tls.Dial("tcp", s.listener.Addr().String(), h2); err == nil {
		conn.Close()
		t.Error("a client that speaks only HTTP/2 is accepted")
	}
}

// TestTLSRefuses: who shows nothing, something foreign, something expired, or speaks an old TLS or none, does not come in.
func TestTLSRefuses(t *testing.T) {
	s := startSecured(t, nil)
	foreign := certstest.NewAuthority(t)
	expired := certstest.Client("alice")
	expired.Begins, expired.Ends = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	alice := certstest.Client("alice")
	show := func(a *certs.Authority, w certs.Wanted) *tls.Config {
		c := certstest.Trust(t, s.authority, nil)
		pair := certstest.Pair(t, a, w)
		c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
		return c
	}
	old := s.tls.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	for name, one := range map[string]struct {
		tls     *tls.Config
		overWeb bool // HTTP accepts it
	}{
		"a certificate": {s.tls, true}, "none": {certstest.Trust(t, s.authority, nil), true}, "foreign": {show(foreign, alice), true},
		"expired": {show(s.authority, expired), true}, "old": {old, false}, "distrust": {certstest.Trust(t, foreign, nil), false},
	} {
		res, err := webClient(t, one.tls).Get(s.Ready().HTTP + "/healthz")
		if err == nil {
			res.Body.Close()
		}
		if (err == nil) != one.overWeb {
			t.Errorf("HTTP with %s: %v", name, err)
		}
		nc, err := nats.Connect(s.Ready().NATS, nats.Secure(one.tls), nats.Timeout(testkit.Patience))
		if err == nil {
			nc.Close()
		}
		if (err == nil) != (name == "a certificate") {
			t.Errorf("NATS with %s: %v", name, err)
		}
	}
	if _, err := nats.Connect("nats://" + strings.TrimPrefix(s.Ready().NATS, "tls://")); err == nil {
		t.Error("NATS without TLS is accepted")
	}
	res, err := http.Get("http://" + s.listener.Addr().String() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "HTTPS server") {
		t.Errorf("HTTP without TLS: %d %s", res.StatusCode, text)
	}
}

// TestClientCertificateReachesHandlers: a handler reads the names of a client's verified certificate from the request.
func TestClientCertificateReachesHandlers(t *testing.T) {
	a := certstest.NewAuthority(t)
	o := aloneOptions(t.TempDir()).withDefaults()
	o.HTTPTLS = certstest.Files(t, a, certstest.Node("a"))
	s := &Server{opts: o, closed: make(chan struct{})}
	if err := s.listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	s.web.Open(&http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		_, _ = fmt.Fprint(rw, func() []string { c, _ := s.certs.http.Client(req.TLS, time.Now()); return certs.Names(c) }())
	})})
	for want, w := range map[string]*certs.Wanted{"[alice]": new(certstest.Client("alice")), "[]": nil} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.httpURL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply := testkit.Do(t, webClient(t, certstest.Trust(t, a, w)), req); reply.Body != want {
			t.Errorf("the client is %s; want %s", reply.Body, want)
		}
	}
}

// TestHandshakesHoldNoPlace: connections that do not finish the handshake give way to others when all places are taken,
// and end by themselves.
func TestHandshakesHoldNoPlace(t *testing.T) {
	t.Parallel()
	s := startSecured(t, func(o *Options) { o.HTTPConnections = httpConnectionsMin })
	overNATS, err := net.Dial("tcp", strings.TrimPrefix(s.Ready().NATS, "tls://"))
	if err != nil {
		t.Fatal(err)
	}
	defer overNATS.Close()
	var silent []net.Conn
	for i := range httpConnectionsMin + 2 {
		conn, err := net.Dial("tcp", s.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%2 == 0 { // half of a record
			if _, err := conn.Write([]byte{22, 3, 1, 1, 0, 1}); err != nil {
				t.Fatal(err)
			}
		}
		silent = append(silent, conn)
	}
	s.status(t)
	begun := time.Now()
	for _, conn := range silent {
		_ = conn.SetReadDeadline(time.Now().Add(testkit.Patience))
		if _, err := conn.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Fatalf("a handshake of %s: %v", time.Since(begun), err)
		}
	}
	_ = overNATS.SetReadDeadline(time.Now().Add(testkit.Patience))
	if _, err := io.Copy(io.Discard, overNATS); err != nil && os.IsTimeout(err) {
		t.Error("NATS waits for a handshake without end")
	}
}

// TestStartRefusesCertificates: the errors name the flag.
func TestStartRefusesCertificates(t *testing.T) {
	f := certstest.Files(t, certstest.NewAuthority(t), certstest.Node("a"))
	nodes := nodeOptions(t, 2)
	for want, change := range map[string]func(*Options){
		"--http-tls-cert needs --http-tls-key":      func(o *Options) { o.HTTPTLS.Cert = f.Cert },
		"--listen-tls-key needs --listen-tls-cert":  func(o *Options) { o.ListenTLS.Key = f.Key },
		"--http-tls-client-ca needs":                func(o *Options) { o.HTTPTLS.CA = f.CA },
		"--nats takes its place":                    func(o *Options) { o.ListenTLS, o.NATSURL = f, "nats://127.0.0.1:1" },
		"it needs --cluster-name, and no --nats":    func(o *Options) { o.ClusterTLS = f },
		"and no --nats":                             func(o *Options) { *o = nodes[0]; o.ClusterTLS, o.NATSURL = f, "nats://127.0.0.1:1" },
		"--cluster-tls-cert needs --cluster-tls-ca": func(o *Options) { *o = nodes[0]; o.ClusterTLS = certs.Files{Cert: f.Cert, Key: f.Key} },
		"--http-tls-cert: the key":                  func(o *Options) { o.HTTPTLS = certs.Files{Cert: f.Cert, Key: f.Key + ".missing"} },
	} {
		o := aloneOptions(t.TempDir())
		change(&o)
		s, err := Start(t.Context(), o)
		if err == nil {
			_ = s.Close(context.Background())
		}
		testkit.Refuses(t, err, want)
	}
}

// TestExpiryIsShown: a certificate that ends soon, and files that cannot be used, are warnings of the status.
func TestExpiryIsShown(t *testing.T) {
	log := new(testkit.Buffer)
	s := startSecured(t, func(o *Options) {
		w := certstest.Node("a")
		w.Ends = time.Now().Add(3 * 24 * time.Hour)
		certstest.Write(t, certstest.NewAuthority(t), w, o.ListenTLS)
		o.HTTPTLS.CA, o.ListenTLS.CA, o.Logger = "", "", slog.New(slog.NewTextHandler(log, nil))
	})
	s.web = webClient(t, &tls.Config{InsecureSkipVerify: true})
	if w := s.status(t).Warnings; len(w) != 2 || !strings.Contains(fmt.Sprint(w), "the certificate of --listen-tls-cert") || !strings.Contains(w[0], "ends on") {
		t.Errorf("warnings %q", w)
	}
	certstest.Replace(t, s.files.Key, []byte("half"))
	if err := s.CheckCertificates(); err == nil {
		t.Error("half a key is used")
	}
	if w := s.status(t).Warnings; len(w) != 4 || !strings.Contains(fmt.Sprint(w), "are not used") {
		t.Errorf("warnings %q", w)
	}
	if n := strings.Count(log.String(), "ends on"); n != 2 {
		t.Errorf("%d lines about the end:\n%s", n, log)
	}
}
