package bus

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Shown is what a client of the embedded server shows of itself. Each text is "" if it shows none.
type Shown struct {
	Token string
	NKey  string // public key of a user; the client has proven that it has the private one
	User  string // user name, by which a caller with rights in several tenants chooses one
}

// doorman decides who may connect to the embedded server, and to which account: this process, with a secret of its own,
// and those whom Options.Admit admits. A client whose place has changed is disconnected by review, and comes back to the
// new one. Safe for concurrent use.
type doorman struct {
	own   string // token of this process's connections
	admit func(Shown) (Guest, error)
	// see Options.Refused
	refused func()
	prefix  string
	logger  *slog.Logger

	server   *server.Server // set before a client can connect; never changed
	accounts *accounts      // the same

	mu       sync.Mutex
	clients  map[uint64]admitted  // by the number of the connection
	selves   map[uint64]string    // tenants of this process's connections in the accounts of tenants
	expelled map[string]expulsion // of tenants whose clients were too much; see expel
	sweepAt  int                  // number of noted clients at which those that have gone are looked for
	second   time.Time            // in which refusals are counted
	refusals int                  // in this second
}

// admitted is a client that was admitted: by what it showed, as whom.
type admitted struct {
	shown Shown
	guest Guest
}

func newDoorman(o Options) *doorman {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it never fails
	return &doorman{
		own: base64.RawURLEncoding.EncodeToString(secret[:]), admit: o.Admit, refused: o.Refused, prefix: o.Prefix, logger: o.Logger,
		clients: make(map[uint64]admitted), selves: make(map[uint64]string),
		expelled: make(map[string]expulsion), sweepAt: clientsMin,
	}
}

// errNotProven is the error of a client that shows a key and does not prove that it has the private one. A token beside
// it does not help: the server would call such a client by the key.
var errNotProven = errors.New("the signature of its nkey is wrong")

// Check implements [server.Authentication].
func (d *doorman) Check(c server.ClientAuthentication) bool {
	shown, err := shownBy(c)
	if err == nil && subtle.ConstantTimeCompare([]byte(shown.Token), []byte(d.own)) == 1 {
		return d.letSelfIn(c, shown.User)
	}
	var g Guest
	if err == nil {
		g, err = d.admit(shown)
	}
	if err == nil {
		err = d.letIn(c, shown, g)
	}
	if err != nil {
		d.refuse(err)
	}
	return err == nil
}

// ownUser is the user name of this process's connections in Carillon's account.
const ownUser = "carillon"

// letSelfIn admits a connection of this process, to the account of a tenant if it names one, and that of the guard of streams
// to the system account.
func (d *doorman) letSelfIn(c server.ClientAuthentication, user string) bool {
	tenant, is := strings.CutPrefix(user, tenantUser)
	switch {
	case user == guardUser:
		c.RegisterUser(&server.User{Username: ownUser, Account: d.server.SystemAccount()})
		return true
	case !is:
		c.RegisterUser(&server.User{Username: ownUser})
		return true
	}
	account, _, err := d.accounts.of(tenant, false)
	if err != nil {
		d.refuse(err)
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.clients)+len(d.selves) >= d.sweepAt {
		d.forgetGone()
	}
	d.selves[c.GetID()] = tenant
	c.RegisterUser(&server.User{Username: ownUser, Account: account})
	return true
}

// tenantUser begins the user name of this process's connection in the account of a tenant.
const tenantUser = "tenant "

// letIn puts a guest into its account. It holds mu until the server counts the client, so that no more clients than the
// bound of a tenant come in at a time.
func (d *doorman) letIn(c server.ClientAuthentication, shown Shown, g Guest) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, twice := d.clients[c.GetID()]; twice {
		return fmt.Errorf("%s sends CONNECT a second time; want a new connection", g)
	}
	if g.Tenant == "" {
		c.RegisterUser(g.user(d.prefix, nil))
		return d.note(c.GetID(), shown, g)
	}
	account, most, err := d.accounts.of(g.Tenant, g.Role == GuestAsks)
	if err != nil {
		return err
	}
	if until := d.expelled[g.Tenant].until; time.Now().Before(until) {
		return errExpelled(g, until)
	}
	if have := d.accounts.clientsOf(g.Tenant); have >= most {
		return fmt.Errorf("%s connects, and its tenant has %d clients on this server, viewers included, which is its bound", g, have)
	}
	c.RegisterUser(g.user(d.prefix, account))
	return d.note(c.GetID(), shown, g)
}

// note keeps a client for review. The rights may have changed since admit was asked, so they are asked once more now that
// review knows the client. The caller holds mu.
func (d *doorman) note(id uint64, shown Shown, g Guest) error {
	if len(d.clients)+len(d.selves) >= d.sweepAt {
		d.forgetGone()
	}
	d.clients[id] = admitted{shown, g}
	again, err := d.admit(shown)
	if err == nil && again != g {
		err = errors.New("its rights have changed meanwhile")
	}
	return err
}

// refusedPerSecond is how many refusals of clients are logged in a second.
const refusedPerSecond = 5

// refuse logs why a client was refused: the server itself tells the client only that it was.
func (d *doorman) refuse(err error) {
	if d.refused != nil {
		d.refused()
	}
	d.mu.Lock()
	if now := time.Now().Truncate(time.Second); now != d.second {
		d.second, d.refusals = now, 0
	}
	d.refusals++
	is := d.refusals <= refusedPerSecond
	d.mu.Unlock()
	if is {
		d.logger.Warn("a client of the embedded NATS server was refused", slog.Any("error", err))
	}
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
	for id := range d.selves {
		if d.server.GetClient(id) == nil {
			delete(d.selves, id)
		}
	}
	d.sweepAt = max(clientsMin, 2*(len(d.clients)+len(d.selves)))
}

// shownBy returns what a client shows. A key counts only with a signature of the number that the server drew for this
// connection. A token may also come as the password, for clients that send no token together with a user name.
func shownBy(c server.ClientAuthentication) (s Shown, err error) {
	o := c.GetOpts()
	s.Token, s.User = cmp.Or(o.Token, o.Password), o.Username
	if o.Nkey == "" {
		return s, nil
	}
	signature, err := base64.RawURLEncoding.DecodeString(o.Sig)
	if err != nil {
		signature, err = base64.StdEncoding.DecodeString(o.Sig)
	}
	key, err2 := nkeys.FromPublicKey(o.Nkey)
	if err != nil || err2 != nil || key.Verify(c.GetNonce(), signature) != nil {
		return s, errNotProven
	}
	s.NKey, s.Token = o.Nkey, ""
	return s, nil
}

// review disconnects the clients whose place is another one now, or none, and forgets those that have gone.
func (d *doorman) review() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forgetGone()
	for id, c := range d.clients {
		if g, err := d.admit(c.shown); err != nil || g != c.guest {
			delete(d.clients, id)
			_ = d.server.DisconnectClientByID(id) // it may have gone just now
		}
	}
}

// permissionsOf returns what a client may not do; nil if it is gone.
func (d *doorman) permissionsOf(id uint64) *server.Permissions {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, known := d.clients[id]
	if !known {
		return nil
	}
	return c.guest.permissions(d.prefix)
}

// reconnect disconnects the clients in the accounts of tenants, so that they connect again.
func (d *doorman) reconnect(tenants []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.forgetGone()
	for id, c := range d.clients {
		if c.guest.Role != GuestAsks && slices.Contains(tenants, c.guest.Tenant) {
			delete(d.clients, id)
			_ = d.server.DisconnectClientByID(id) // it may have gone just now
		}
	}
	for id, tenant := range d.selves {
		if slices.Contains(tenants, tenant) {
			delete(d.selves, id)
			_ = d.server.DisconnectClientByID(id)
		}
	}
}
