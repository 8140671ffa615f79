package bus

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Shown is what a client of the embedded server shows of itself. Each text is "" if it shows none.
type Shown struct {
	Token string
	NKey  string // public key of a user; the client has proven that it has the private one
}

// doorman decides who may connect to the embedded server: this process, with a secret of its own, and those whom
// Options.Admit admits. A client that is admitted no longer is disconnected by review. Safe for concurrent use.
type doorman struct {
	own   string // token of this process's connections
	admit func(Shown) (still func() bool, ok bool)

	mu      sync.Mutex
	clients map[uint64]func() bool // by the number of the connection: whether it is still admitted
}

func newDoorman(admit func(Shown) (func() bool, bool)) *doorman {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	return &doorman{own: base64.RawURLEncoding.EncodeToString(secret[:]), admit: admit, clients: make(map[uint64]func() bool)}
}

// Check implements [server.Authentication].
func (d *doorman) Check(c server.ClientAuthentication) bool {
	shown := shownBy(c)
	if subtle.ConstantTimeCompare([]byte(shown.Token), []byte(d.own)) == 1 {
		c.RegisterUser(&server.User{Username: "carillon"})
		return true
	}
	still, ok := d.admit(shown)
	if !ok {
		return false
	}
	c.RegisterUser(&server.User{Username: "admin"})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clients[c.GetID()] = still
	return true
}

// shownBy returns what a client shows. A key counts only with a signature of the number that the server drew for this
// connection.
func shownBy(c server.ClientAuthentication) (s Shown) {
	o := c.GetOpts()
	if s.Token = o.Token; o.Nkey == "" {
		return s
	}
	signature, err := base64.RawURLEncoding.DecodeString(o.Sig)
	if err != nil {
		signature, err = base64.StdEncoding.DecodeString(o.Sig)
	}
	key, err2 := nkeys.FromPublicKey(o.Nkey)
	if err == nil && err2 == nil && key.Verify(c.GetNonce(), signature) == nil {
		s.NKey = o.Nkey
	}
	return s
}

// review disconnects the clients that are admitted no longer, and forgets those that have gone.
func (d *doorman) review(s *server.Server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, still := range d.clients {
		switch {
		case s.GetClient(id) == nil:
			delete(d.clients, id)
		case !still():
			delete(d.clients, id)
			_ = s.DisconnectClientByID(id) // it may have gone just now
		}
	}
}

// ReviewClients disconnects those clients of the embedded server whom Options.Admit admits no longer. It does nothing
// without an embedded server, and if every client is admitted.
func (b *Bus) ReviewClients() {
	if b.embedded != nil && b.doorman != nil {
		b.doorman.review(b.embedded)
	}
}
