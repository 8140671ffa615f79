package dispatch

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync"

	"github.com/carillon-io/carillon/job"
)

// transportsMax bounds the transports besides the common one. Each has at most idleConnsOwnMax idle connections.
const transportsMax = 128

// idleConnsOwnMax bounds the idle connections of a transport that few targets share.
const idleConnsOwnMax = 64

// transports has a transport for each set of targets that may share connections. A connection that one tenant's reach
// allowed must not carry the runs of a tenant without it, because addresses are checked only when they are dialled;
// and one that was opened with a client certificate must carry only runs that have this certificate.
type transports struct {
	opts    Options
	sockets *sockets
	common  *http.Transport // of targets without openings and certificate

	mu    sync.Mutex
	own   map[transportKey]*ownTransport
	clock uint64 // counts the uses, to find the transport that was used longest ago
}

// transportKey is what the users of a transport have in common. A rotated certificate, and a changed reach, has another
// transport.
type transportKey struct {
	reach string
	cert  [sha256.Size]byte // of the PEM text; zero: none
}

type ownTransport struct {
	*http.Transport
	used uint64
}

func newTransports(o Options) *transports {
	s := &transports{opts: o, own: make(map[transportKey]*ownTransport)}
	s.sockets = &sockets{taken: make(chan struct{}, o.HTTPMax), closeIdle: s.closeIdle}
	s.common = newTransport(o, s.sockets, job.Reach{All: o.AllowPrivateTargets}, nil)
	return s
}

// of returns the transport of a request.
func (s *transports) of(reach job.Reach, p *parcel) (*http.Transport, error) {
	if (reach.All || reach.IsPublic()) && p.certPEM == nil {
		return s.common, nil
	}
	key := transportKey{reach: reach.String()}
	if p.certPEM != nil {
		key.cert = sha256.Sum256(p.certPEM)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	if t := s.own[key]; t != nil {
		t.used = s.clock
		return t.Transport, nil
	}
	var own *tls.Certificate
	if p.certPEM != nil {
		pair, err := tls.X509KeyPair(p.certPEM, p.certPEM)
		if err != nil { // its text may have parts of the file
			return nil, fmt.Errorf("secret %s: want a certificate, those of its authorities if the target needs them, and the key that belongs to it, all in PEM form", p.Target.ClientCert)
		}
		own = &pair
	}
	t := newTransport(s.opts, s.sockets, reach, own)
	t.MaxIdleConns, t.MaxIdleConnsPerHost = idleConnsOwnMax, idleConnsOwnMax
	s.makeRoomLocked()
	s.own[key] = &ownTransport{t, s.clock}
	return t, nil
}

// makeRoomLocked drops the transport that was used longest ago if there are too many. Its requests in flight go on.
func (s *transports) makeRoomLocked() {
	if len(s.own) < transportsMax {
		return
	}
	var oldest transportKey
	least := s.clock
	for key, t := range s.own {
		if t.used < least {
			oldest, least = key, t.used
		}
	}
	s.own[oldest].CloseIdleConnections()
	delete(s.own, oldest)
}

// closeIdle closes the connections that no request uses.
func (s *transports) closeIdle() {
	s.common.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.own {
		t.CloseIdleConnections()
	}
}
