package bus

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/serverurl"
)

// ClusterListenDefault is the address on which the embedded server of a node listens for its peers, unless the options
// name another.
const ClusterListenDefault = "127.0.0.1:6222"

// The bounds of the lists in the options. Each address is tried in turn, so a longer list makes a start or a
// reconnection slow; a cluster has only a few members.
const (
	routesMax   = 16
	natsURLsMax = 16
)

// Reachable returns an address by which a program on this machine reaches a listener on addr. If addr stands for all
// addresses of the machine, it returns the loopback address. An address such as 0.0.0.0:4222 is right for listening,
// but not portable for dialling.
func Reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || len(tcp.IP) > 0 && !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tcp.Port}).String()
}

// OnLoopback reports whether only this machine can reach an address. A name other than localhost counts as reachable
// by others: to resolve the name would make the answer depend on DNS, which may change its mind before the listener is
// open. An empty host is every address of the machine.
func OnLoopback(addr string) bool {
	host, _, err := splitAddr(addr)
	if err != nil {
		return false
	}
	return job.IsThisMachine(host)
}

// ValidateListen checks the form of an address to listen on: host:port with a port from 0 to 65535. An empty host stands
// for every address of the machine.
func ValidateListen(addr string) error {
	if _, _, err := splitAddr(addr); err != nil {
		return fmt.Errorf("%w, such as 127.0.0.1:7272", err)
	}
	return nil
}

// ValidatePeers checks the settings with which the embedded server finds its peers: the address on which it listens
// for them, and their addresses. The port must be known in advance, because the peers have it in their own --routes.
// One route at least must lead to another node; a list with the own address among the others is right, so that all
// nodes can have the same list.
func ValidatePeers(listen string, routes []string) error {
	host, port, err := splitAddr(listen)
	if err != nil || port == 0 {
		return fmt.Errorf("options: peers cannot come to %q; want host:port, such as %s, with a port that the others can know", listen, ClusterListenDefault)
	}
	if len(routes) > routesMax {
		return fmt.Errorf("options: %d routes are too many; want at most %d", len(routes), routesMax)
	}
	own := net.JoinHostPort(host, strconv.Itoa(port))
	others := false
	for _, route := range routes {
		u, err := routeURL(route)
		if err != nil {
			return err
		}
		others = others || u.Host != own
	}
	if !others {
		return errors.New("options: no route leads to another node, and a cluster of one survives nothing; name where the others listen (--routes), or leave out the cluster name")
	}
	return nil
}

// routeURL parses host:port or nats-route://host:port. It rejects a user in the route rather than use it: all routes
// share one password, and an address shown in a message or in a list of processes must not contain it.
func routeURL(route string) (*url.URL, error) {
	shown, _ := cutUser(route)
	bad := fmt.Errorf("options: the route %q is no address of a peer; want host:port or nats-route://host:port", shown)
	addr := route
	if scheme, rest, ok := strings.Cut(route, "://"); ok {
		if addr = strings.TrimSuffix(rest, "/"); scheme != "nats-route" && scheme != "nats" {
			return nil, bad
		}
	}
	if host, ok := cutUser(addr); ok {
		return nil, fmt.Errorf("options: the route to %s has a user in it; the password of the cluster (CARILLON_CLUSTER_PASSWORD) is for all routes", host)
	}
	host, port, err := splitAddr(addr)
	if err != nil || host == "" || port == 0 {
		return nil, bad
	}
	return &url.URL{Scheme: "nats-route", Host: net.JoinHostPort(host, strconv.Itoa(port))}, nil
}

// cutUser returns what follows the user of user@host, and reports whether there is one. The user may contain a
// password, which no message repeats.
func cutUser(addr string) (host string, ok bool) {
	return addr[strings.LastIndexByte(addr, '@')+1:], strings.Contains(addr, "@")
}

// splitAddr parses host:port with a port from 0 to 65535.
func splitAddr(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, errors.New("want host:port")
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, errors.New("the port must be 0 to 65535")
	}
	return host, int(n), nil
}

// ValidateURL checks a list of outside servers. No error repeats an address: one that cannot be read may have a password
// anywhere in it.
func ValidateURL(list string) error {
	if list == "" {
		return nil
	}
	urls, err := serverurl.ParseList(list)
	switch {
	case strings.Count(list, ",") >= natsURLsMax:
		return fmt.Errorf("options: %d NATS servers are too many; want at most %d", strings.Count(list, ",")+1, natsURLsMax)
	case err != nil:
		return fmt.Errorf("options: NATS servers: %w; want nats://host:port or tls://host:port, separated by commas", err)
	}
	for i, u := range urls {
		if !slices.Contains([]string{serverurl.NATS, "tls", "ws", "wss"}, u.Scheme) {
			return fmt.Errorf("options: NATS servers: address %d has the scheme %q; want nats://host:port or tls://host:port, separated by commas", i+1, u.Scheme)
		}
	}
	return nil
}
