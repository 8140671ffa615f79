package bus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/carillon-io/carillon/certs"
)

// The times of the question what a peer demands.
const (
	// greetingWait is how long a peer without TLS has for its greeting, which it sends at once. A peer with TLS is silent.
	greetingWait = time.Second
	demandWait   = handshakeMax // for the whole question
	// demandEvery is the shortest time between two questions to one peer.
	demandEvery = 5 * time.Second
)

// routeClosed is the part of the embedded server's line about a connection of a peer that has ended.
const routeClosed = "Router connection closed"

// demands finds out why peers close the connections of a node that does not prove who it is: a peer that demands a proof
// closes them without a word. So the node connects once more, lets the peer show its certificate, and sends none. The zero
// value is ready. Safe for concurrent use.
type demands struct {
	mu       sync.Mutex
	asked    map[string]time.Time // by address
	isClosed bool
	underWay sync.WaitGroup
	stop     context.CancelFunc // of the question that is under way; nil: none is
}

// noteClosed takes a line of the embedded server. If it says that a peer has closed a connection of a node without a proof,
// the peer is asked what it demands, on a goroutine, and say is called with what is to be logged.
func (s *strangers) noteClosed(line string, say func(text string)) {
	if s == nil || s.proof != proofNone {
		return
	}
	addr, what, ok := strings.Cut(line, routeMark)
	host, _, err := net.SplitHostPort(addr)
	if !ok || err != nil || !strings.Contains(what, routeClosed) {
		return
	}
	s.demands.ask(addr, time.Now(), func(shown *x509.Certificate) {
		if text := explainDemand(host, shown); s.record(text, false, time.Now()) {
			say(text)
		}
	})
}

// explainDemand says what a peer with a certificate demands of a node without one; any certificate for nil.
func explainDemand(host string, shown *x509.Certificate) string {
	needs := "CARILLON_CLUSTER_PASSWORD or --cluster-tls-*"
	switch {
	case shown == nil:
	case certs.IsOfPassword(shown):
		needs = "CARILLON_CLUSTER_PASSWORD"
	default:
		needs = "--cluster-tls-*"
	}
	return fmt.Sprintf("the peer at %s proves by TLS who it is, and this node does not, so neither lets the other in: start this node with what the others have, %s", host, needs)
}

// ask asks a peer for its certificate on a goroutine, unless another one is being asked, or this one was a moment ago. found
// is called with the certificate if the peer shows one.
func (d *demands) ask(addr string, now time.Time, found func(*x509.Certificate)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isClosed || d.stop != nil || now.Sub(d.asked[addr]) < demandEvery {
		return
	}
	if d.asked == nil || len(d.asked) >= strangersMax {
		d.asked = make(map[string]time.Time)
	}
	d.asked[addr] = now
	ctx, stop := context.WithTimeout(context.Background(), demandWait)
	d.stop = stop
	d.underWay.Go(func() {
		defer d.done()
		if shown := certificateAt(ctx, addr); shown != nil {
			found(shown)
		}
	})
}

// done ends the question that was under way.
func (d *demands) done() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop()
	d.stop = nil
}

// close ends the question that is under way, and waits for it. There are none afterwards.
func (d *demands) close() {
	d.mu.Lock()
	d.isClosed = true
	if d.stop != nil {
		d.stop()
	}
	d.mu.Unlock()
	d.underWay.Wait()
}

// certificateAt returns the certificate of a peer that is silent until it is spoken to in TLS; nil if there is none. It
// shows no certificate itself, and sends nothing but the beginning of a handshake.
func certificateAt(ctx context.Context, addr string) (shown *x509.Certificate) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(greetingWait))
	if _, err := conn.Read(make([]byte, 1)); !isTimeout(err) {
		return nil // it greets, so it has no TLS; or it has closed the connection
	}
	_ = conn.SetReadDeadline(time.Time{})
	_ = tls.Client(conn, &tls.Config{
		InsecureSkipVerify: true, // nothing follows
		VerifyConnection: func(state tls.ConnectionState) error {
			shown = state.PeerCertificates[0]
			return nil
		},
	}).HandshakeContext(ctx)
	return shown
}

// isTimeout reports whether a connection was silent for as long as it might be.
func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}
