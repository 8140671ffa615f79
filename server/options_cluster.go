package server

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/job"
)

// What a commit of a cluster waits for before it counts.
const (
	// DurabilityReplicated: the leader's own disk and the stream that the standbys read. A node that takes over
	// has every acknowledged commit.
	DurabilityReplicated = "replicated"
	// DurabilityLocal: the leader's own disk. The stream receives commits later; a takeover can lose the newest
	// acknowledged ones.
	DurabilityLocal = "local"
)

// The bounds and defaults of a cluster's options.
const (
	leadInCluster         = 10 * time.Second // longer than an election of the stream's leader, which takes 4 to 9 s
	clusterListenDefault  = "127.0.0.1:6222"
	streamBytesMaxDefault = 1 << 30
	streamBytesMaxMin     = 64 << 20
	replicasMax           = 5
	routesMax             = 16
	natsURLsMax           = 16
)

// clustered reports whether this is a node of a cluster, rather than a node alone.
func (o Options) clustered() bool { return o.ClusterName != "" }

// clusterEmbedded reports whether the embedded servers of the nodes form the cluster's NATS.
func (o Options) clusterEmbedded() bool { return o.clustered() && o.NATSURL == "" }

func (o *Options) setClusterDefaults() {
	if !o.clustered() {
		return
	}
	if o.Lead == 0 {
		o.Lead = leadInCluster
	}
	if o.Durability == "" {
		o.Durability = DurabilityReplicated
	}
	if o.StreamBytesMax == 0 {
		o.StreamBytesMax = streamBytesMaxDefault
	}
	if o.ClusterListen == "" && o.clusterEmbedded() {
		o.ClusterListen = clusterListenDefault
	}
}

func (o Options) validateCluster() error {
	if !o.clustered() {
		return o.validateAlone()
	}
	switch {
	case job.ValidateTenant(o.ClusterName) != nil:
		return fmt.Errorf("options: the cluster name %q is no subject token; want 1 to %d letters, digits, - and _", o.ClusterName, job.TenantBytesMax)
	case o.Node != "" && job.ValidateTenant(o.Node) != nil:
		return fmt.Errorf("options: the node name %q is no subject token; want 1 to %d letters, digits, - and _", o.Node, job.TenantBytesMax)
	case o.Durability != DurabilityReplicated && o.Durability != DurabilityLocal:
		return fmt.Errorf("options: the durability %q is unknown; want %s or %s", o.Durability, DurabilityReplicated, DurabilityLocal)
	case o.Replicas < 0 || o.Replicas > replicasMax || (o.Replicas != 0 && o.Replicas%2 == 0):
		return fmt.Errorf("options: %d replicas; want 1, 3 or 5, or 0 to choose by the number of servers: an even number survives no more than the odd one below it", o.Replicas)
	case o.StreamBytesMax < streamBytesMaxMin:
		return fmt.Errorf("options: a log of the cluster of %d bytes is too small; want at least %d", o.StreamBytesMax, streamBytesMaxMin)
	case o.Witness && o.DiscardData:
		return errors.New("options: a witness has no data to discard; leave out --discard-data")
	}
	if o.clusterEmbedded() {
		return o.validateMember()
	}
	return o.validateOutside()
}

// validateAlone refuses settings that have no meaning without a cluster: a forgotten cluster name must not lead
// to two nodes that both fire.
func (o Options) validateAlone() error {
	for _, v := range []struct {
		set  bool
		what string
	}{
		{o.Witness, "a witness"},
		{o.Node != "", "a node name"},
		{o.ClusterListen != "", "an address to listen on for peers"},
		{len(o.Routes) > 0, "routes to peers"},
		{o.ClusterPassword != "", "a password of the cluster"},
		{o.Durability != "", "a durability"},
		{o.Replicas != 0, "a number of replicas"},
		{o.StreamBytesMax != 0, "a size of the cluster's log"},
		{o.DiscardData, "giving data up for a cluster's"},
		{o.LeadAlone, "leading without the other members"},
		{o.NATSSyncs, "what NATS has on disk"},
	} {
		if v.set {
			return fmt.Errorf("options: %s needs a cluster name (--cluster-name), the same on all nodes", v.what)
		}
	}
	return nil
}

// validateOutside refuses settings that only the embedded server can follow.
func (o Options) validateOutside() error {
	for _, v := range []struct {
		set  bool
		what string
	}{
		{o.Witness, "a witness is an embedded NATS server"},
		{o.ClusterListen != "", "an address to listen on for peers is of the embedded server"},
		{len(o.Routes) > 0, "routes are of the embedded server"},
		{o.ClusterPassword != "", "the password of the cluster is of the embedded server"},
	} {
		if v.set {
			return fmt.Errorf("options: %s, and --nats takes its place; leave out the one or the other", v.what)
		}
	}
	return nil
}

// validateMember checks the settings with which the embedded server finds its peers.
func (o Options) validateMember() error {
	host, port, err := splitAddr(o.ClusterListen)
	if err != nil || port == 0 {
		return fmt.Errorf("options: peers cannot come to %q; want host:port, such as %s, with a port that the others can know", o.ClusterListen, clusterListenDefault)
	}
	if len(o.Routes) > routesMax {
		return fmt.Errorf("options: %d routes are too many; want at most %d", len(o.Routes), routesMax)
	}
	own := net.JoinHostPort(host, strconv.Itoa(port))
	others := false
	for _, route := range o.Routes {
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

// routeURL parses host:port or nats-route://host:port.
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

// validateNATSURL checks a list of outside servers. The NATS client checks the rest of each URL.
func validateNATSURL(list string) error {
	if list == "" {
		return nil
	}
	urls := strings.Split(list, ",")
	if len(urls) > natsURLsMax {
		return fmt.Errorf("options: %d NATS servers are too many; want at most %d", len(urls), natsURLsMax)
	}
	for _, one := range urls {
		scheme, rest, ok := strings.Cut(strings.TrimSpace(one), "://")
		if !ok {
			scheme, rest = "nats", scheme
		}
		if rest == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, scheme) {
			host, _ := cutUser(rest)
			return fmt.Errorf("options: %q in the list of NATS servers is none; want nats://host:port or tls://host:port, separated by commas", scheme+"://"+host)
		}
	}
	return nil
}
