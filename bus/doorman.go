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

	server *server.Server // set before a client can connect; never changed

	mu      sync.Mutex
	clients map[uint64]func() bool // by the number of the connection: whether it is still admitted
	sweepAt int                    // number of noted clients at which those that have gone are looked for
}

func newDoorman(admit func(Shown) (func() bool, bool)) *doorman {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	return &doorman{own: base64.RawURLEncoding.EncodeToString(secret[:]), admit: admit, clients: make(map[uint64]func() bool), sweepAt: clientsMin}
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
	if len(d.clients) >= d.sweepAt {
		d.forgetGone()
	}
	d.clients[c.GetID()] = still
	// Asked once more now that review knows the client: the rights may have ended since admit was asked.
	return still()
}

// clientsMin is the number of noted clients below which those that have gone are not looked for.
const clientsMin = 64

// forgetGone forgets the clients that have gone, so that clients who come and go take no memory. The caller holds mu.
func (d *doorman) forgetGone() {
	for id := range d.clients {
		if d.server.GetClient(id) == nil {
			delete(d.clients, id)
		}
	}
	d.sweepAt = max(clientsMin, 2*len(d.clients))
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
func (d *doorman) review() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forgetGone()
	for id, still := range d.clients {
		if !still() {
			delete(d.clients, id)
			_ = d.server.DisconnectClientByID(id) // it may have gone just now
		}
	}
}

// ReviewClients disconnects those clients of the embedded server whom Options.Admit admits no longer. It does nothing
// without an embedded server, and if every client is admitted.
func (b *Bus) ReviewClients() {
	if b.embedded != nil && b.doorman != nil {
		b.doorman.review()
	}
}
