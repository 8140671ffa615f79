package bus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
)

// TestCertificateAt: a peer shows by its certificate what it demands. One that greets without TLS, and one that says
// nothing, show none, and the first is not spoken to.
func TestCertificateAt(t *testing.T) {
	t.Parallel()
	password, err := certs.PeersOfPassword("the password of all nodes", "prod")
	if err != nil {
		t.Fatal(err)
	}
	files := &tls.Config{Certificates: []tls.Certificate{certstest.Pair(t, certstest.NewAuthority(t), certstest.Node("b"))}, ClientAuth: tls.RequireAnyClientCert}
	speaksTLS := func(c *tls.Config) func(net.Conn) io.Reader {
		return func(conn net.Conn) io.Reader { return tls.Server(conn, c) }
	}
	greets := func(conn net.Conn) io.Reader {
		_, _ = io.WriteString(conn, "INFO {}\r\n")
		return conn
	}
	for name, c := range map[string]struct {
		speak func(net.Conn) io.Reader
		want  string // part of what is said; "": nothing
	}{
		"password": {speaksTLS(password), "what the others have, CARILLON_CLUSTER_PASSWORD"}, "files": {speaksTLS(files), "what the others have, --cluster-tls-*"},
		"plain": {greets, ""}, "silent": {func(conn net.Conn) io.Reader { return conn }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*greetingWait)
			defer cancel()
			addr := bustest.FreeAddrs(t, 1)[0]
			them := listenAt(t, addr, c.speak)
			shown := certificateAt(ctx, addr)
			if (shown != nil) != (c.want != "") {
				t.Fatalf("it shows %v", shown)
			}
			if text := explainDemand("host", shown); shown != nil && !strings.HasSuffix(text, c.want) {
				t.Error(text)
			}
			if <-them.came; name == "plain" && them.got.String() != "" {
				t.Errorf("a peer without TLS was sent %q", them.got.String())
			}
		})
	}
}

// TestDemandsAreBounded: one peer is asked at a time, and none again before a while; after close none is.
func TestDemandsAreBounded(t *testing.T) {
	t.Parallel()
	addrs := bustest.FreeAddrs(t, 2)
	accepted := make(chan struct{}, 100)
	for _, addr := range addrs {
		listenAt(t, addr, func(conn net.Conn) io.Reader {
			accepted <- struct{}{}
			return conn // silent
		})
	}
	var d demands
	now, never := time.Now(), func(*x509.Certificate) { t.Error("a silent peer shows a certificate") }
	for i := range 10 {
		d.ask(addrs[i%2], now, never) // the second one waits for its turn
	}
	<-accepted
	d.stopped(t)
	d.ask(addrs[0], now.Add(demandEvery-1), never)
	if len(accepted) != 0 {
		t.Errorf("%d more peers were asked", len(accepted))
	}
	d.close()
	d.ask(addrs[1], now.Add(time.Hour), never)
	d.underWay.Wait()
	if len(accepted) != 0 {
		t.Error("a peer was asked after the end")
	}
}

// stopped ends the question that is under way.
func (d *demands) stopped(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	if d.stop != nil {
		d.stop()
	}
	d.mu.Unlock()
	d.underWay.Wait()
}
