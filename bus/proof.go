package bus

import (
	"net/url"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/certs"
)

// proof is how a node proves to its peers who it is.
type proof int

// The kinds of proof.
const (
	proofNone         proof = iota
	proofPassword           // TLS with keys of the password
	proofCertificates       // TLS with certificates of files
)

func (o Options) proof() proof {
	switch {
	case o.ClusterTLS != nil:
		return proofCertificates
	case o.ClusterPassword != "":
		return proofPassword
	}
	return proofNone
}

// proveRoutes configures how the server and its peers prove to each other who they are. With a password and no
// certificates, both sides prove by TLS that they know it, and it is not sent. With certificates they prove by those,
// and the side that connects sends the password besides, as the user that is returned; nil: it sends none.
//
// Routes of NATS ask the side that connects alone for a password. So it is never sent to a listener that has not proved
// itself: who listens at the address of a stopped node would learn it.
func (o Options) proveRoutes(so *server.Options) (user *url.Userinfo, err error) {
	so.Cluster.TLSConfig = o.ClusterTLS
	switch {
	case o.proof() == proofPassword:
		so.Cluster.TLSConfig, err = certs.PeersOfPassword(o.ClusterPassword, o.ClusterName)
		return nil, err
	case o.ClusterPassword == "":
		return nil, nil
	}
	so.Cluster.Username, so.Cluster.Password = clusterUser, o.ClusterPassword
	return url.UserPassword(clusterUser, o.ClusterPassword), nil
}
