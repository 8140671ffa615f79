package bus

import (
	"crypto/tls"
	"log/slog"

	"github.com/carillon-io/carillon/inbox"
)

// Options say where NATS is, and who comes to it. The caller has checked them, with [ValidateURL] and [ValidatePeers]
// among others; package bus has no defaults.
type Options struct {
	URL     string // outside NATS servers, separated by commas; empty: an embedded server
	Creds   string // credentials file for the outside servers; empty: none
	TLSCert string // client certificate for the outside servers, with TLSKey; empty: none
	TLSKey  string
	TLSCA   string // authorities to trust for the outside servers; empty: those of the system

	Listen string // address of the embedded server; port 0 picks a free one
	// They give the present certificates for each new connection.
	ListenTLS  *tls.Config // of the embedded server, for clients; nil: no TLS
	ClusterTLS *tls.Config // of the embedded server, for peers in both directions; nil: no TLS
	// Admit decides who may connect to the embedded server, besides this process, and to which account. It is asked again
	// by ReviewClients, and is called with a lock held, so it must not wait. nil: every client may, and there is one
	// account.
	Admit func(Shown) (Guest, error)
	// Governs reports whether a user that the server names in Nats-Request-Info is an admin of all tenants. It must not
	// wait. nil: none is.
	Governs func(user string) bool
	// Refused is called for each client that is not admitted, also because of a bound. It must not wait. nil: nothing is.
	Refused func()
	// Tenants are those that have accounts, at the start; see ReviewClients.
	Tenants []Tenant
	// No other server may have it open.
	StoreDir string // directory in which the embedded server keeps its streams
	// The caller derives it from the limit of open files, so that clients cannot take the files that the log and the
	// store need.
	ConnectionsMax int // most connections to the embedded server, this process's own included

	Prefix string // first token of the service's subjects
	// Of two that start at the same time, the one with the lesser identifier keeps the prefix.
	Process string      // identifier of this process that no other server has; an earlier start has a lesser one
	Inboxes *inbox.Rule // reply subjects to which this process answers

	ClusterName string // name of the cluster of which this process is a node; empty: it is alone
	Node        string // name of the node in the cluster
	Witness     bool   // this process only runs an embedded server, as a member of the cluster's NATS
	// The data directory says so, not the command line, so that a founder that is restarted remains one.
	Founding        bool     // this node will found the cluster: empty nodes are told to wait for it
	ClusterListen   string   // address on which the embedded server listens for those of the other nodes
	Routes          []string // addresses of those servers, as host:port or nats-route://host:port
	ClusterPassword string   // password among the embedded servers; empty: none
	NATSSyncs       bool     // the operator declares that the outside servers sync what they acknowledge

	Logger *slog.Logger
}

// clustered reports whether this process is a node of a cluster, rather than alone.
func (o Options) clustered() bool { return o.ClusterName != "" }
