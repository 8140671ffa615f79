package bus

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// JetStream knows a peer by its server's name. Two servers of one name are one peer with two logs: streams lose what they
// acknowledged, and neither server reaches the other, so the nodes cannot notice it by a message. So before its server
// starts, a node asks the cluster for its name, by a server without JetStream that has another name.

// The times of that question.
const (
	namesakeDial   = 500 * time.Millisecond // until a peer accepts a connection; without peers there is no server to ask
	namesakeRoutes = time.Second            // until the first peer has let the asking server in
	// namesakeWait is for the answers, and for the routes to peers that only others know, unless all servers of which one knows
	// have answered. It is asked again each namesakeEvery.
	namesakeWait  = 400 * time.Millisecond
	namesakeEvery = 25 * time.Millisecond
	// namesakeSuffix makes the name of the asking server.
	namesakeSuffix = ".asks"
)

// errNamesake says that the cluster has a server of this node's name.
var errNamesake = errors.New("a node of this name is in the cluster already")

// refuseNamesake returns an error if a NATS server of the cluster has this node's name. Two nodes that start at the same moment
// both pass.
func (o Options) refuseNamesake() error {
	if !o.clustered() || !o.hasPeers() {
		return nil
	}
	asker, only, err := o.startAsker()
	if err != nil {
		return err
	}
	defer func() {
		asker.Shutdown()
		asker.WaitForShutdown()
	}()
	for end := time.Now().Add(namesakeRoutes); asker.NumRoutes() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return nil // the start says why no peer lets this node in
		}
	}
	nc, err := nats.Connect("", nats.InProcessServer(asker), nats.UserInfo(guardUser, only.secret))
	if err != nil {
		return fmt.Errorf("ask the cluster for the name of this node: %w", err)
	}
	defer nc.Close()
	return o.findNamesake(nc)
}

// hasPeers reports whether a server accepts connections at one of the routes. This node's own address is among them often, and
// no server listens there yet.
func (o Options) hasPeers() bool {
	found := make(chan bool, len(o.Routes))
	var all sync.WaitGroup
	for _, route := range o.Routes {
		all.Go(func() {
			u, err := routeURL(route)
			if err != nil {
				return // the start says so
			}
			if conn, err := net.DialTimeout("tcp", u.Host, namesakeDial); err == nil {
				_ = conn.Close()
				found <- true
			}
		})
	}
	all.Wait()
	return len(found) > 0
}

// startAsker starts a server of the cluster without JetStream. It admits only a client with the secret of the second result.
func (o Options) startAsker() (*server.Server, *systemOnly, error) {
	so := &server.Options{ServerName: o.Node + namesakeSuffix, Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true}
	if err := o.setRoutes(so); err != nil {
		return nil, nil, err
	}
	so.Cluster.Port, so.Cluster.NoAdvertise = server.RANDOM_PORT, true
	only := &systemOnly{secret: rand.Text()}
	so.CustomClientAuthentication = only
	asker, err := server.NewServer(so)
	if err != nil {
		return nil, nil, fmt.Errorf("start a NATS server that asks for the name of this node: %w", err)
	}
	only.server = asker
	asker.Start()
	return asker, only, nil
}

// systemOnly admits the only client of the asking server, which is in this process, to the system account.
type systemOnly struct {
	server *server.Server
	secret string
}

// Check implements [server.Authentication].
func (s *systemOnly) Check(c server.ClientAuthentication) bool {
	if subtle.ConstantTimeCompare([]byte(c.GetOpts().Password), []byte(s.secret)) != 1 {
		return false
	}
	c.RegisterUser(&server.User{Username: guardUser, Account: s.server.SystemAccount()})
	return true
}

// findNamesake asks all servers of the cluster for their names, until each of which one of them knows has answered, or until
// namesakeWait is over. A new cluster elects its first leader of JetStream at once only if all its servers are there within some
// tenths of a second.
func (o Options) findNamesake(nc *nats.Conn) error {
	sub, err := nc.SubscribeSync(nc.NewInbox())
	if err != nil {
		return fmt.Errorf("ask the cluster for the name of this node: %w", err)
	}
	heard := make(census)
	began := time.Now()
	for asked := began.Add(-namesakeEvery); ; {
		if time.Since(asked) >= namesakeEvery {
			if err := nc.PublishRequest("$SYS.REQ.SERVER.PING", sub.Subject, nil); err != nil {
				return fmt.Errorf("ask the cluster for the name of this node: %w", err)
			}
			asked = time.Now()
		}
		if m, err := sub.NextMsg(namesakeEvery); err == nil && heard.note(m.Data) == o.Node {
			return fmt.Errorf("%w: a NATS server of cluster %q has the name %q; give each node a name of its own (--node)", errNamesake, o.ClusterName, o.Node)
		}
		if heard.isWhole() || time.Since(began) >= namesakeWait {
			return nil
		}
	}
}

// census has the servers that have answered, and for each the names of those to which it has routes.
type census map[string][]string

// note records an answer, and returns the name of its server.
func (c census) note(answer []byte) (name string) {
	var m server.ServerStatsMsg
	if json.Unmarshal(answer, &m) != nil {
		return ""
	}
	var routes []string
	for _, route := range m.Stats.Routes {
		routes = append(routes, route.Name)
	}
	c[m.Server.Name] = routes
	return m.Server.Name
}

// isWhole reports whether the server that asks and another one have answered, and all others to which one of them has routes. Others
// that ask for their own names count for nothing: they end soon.
func (c census) isWhole() bool {
	for _, routes := range c {
		for _, name := range routes {
			if _, answered := c[name]; !answered && !strings.HasSuffix(name, namesakeSuffix) {
				return false
			}
		}
	}
	return len(c) > 1
}
