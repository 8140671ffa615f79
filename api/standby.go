package api

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
)

// StandbyHeader is the header of a request over HTTP that lets a standby answer a read from its own data.
const StandbyHeader = "Carillon-Standby"

// Headers of a reply from a standby's own data: the node, and its lag behind the leader in commits and in milliseconds.
const (
	nodeHeader  = "Carillon-Node"
	lagHeader   = "Carillon-Lag"
	lagMSHeader = "Carillon-Lag-Ms"
)

// Lag says that a read may be answered from the data of a standby. A router notes in it which copies of which shards were
// read. Safe for concurrent use.
type Lag struct {
	mu sync.Mutex
	of map[uint32]lagOf // by shard; leaders are not in it
}

// lagOf is how far the copy of one shard lags.
type lagOf struct {
	node    string
	commits uint64
	millis  float64
}

// note notes the copy from which the last answer of a shard came.
func (l *Lag) note(shard uint32, of lagOf) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = make(map[uint32]lagOf)
	}
	l.of[shard] = of
}

// noteReply notes what the headers of another node's reply say; nothing if a leader sent it.
func (l *Lag) noteReply(shard uint32, h nats.Header) {
	commits, err := strconv.ParseUint(h.Get(lagHeader), 10, 64)
	millis, errMS := strconv.ParseFloat(h.Get(lagMSHeader), 64)
	if node := h.Get(nodeHeader); node != "" && err == nil && errMS == nil {
		l.note(shard, lagOf{node, commits, millis})
	}
}

// sum returns the nodes whose copies were read, with the commits that all copies lack, and the longest time.
func (l *Lag) sum() (all lagOf) {
	if l == nil {
		return all
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var nodes []string
	for _, one := range l.of {
		nodes = append(nodes, one.node)
		all.commits, all.millis = all.commits+one.commits, max(all.millis, one.millis)
	}
	slices.Sort(nodes)
	all.node = strings.Join(slices.Compact(nodes), ", ")
	return all
}

// StateLag adds to the headers of a reply from the data of standbys by how much that lags; lag is that of the request. A leader
// adds nothing. A caller can so decide for itself whether the reading is recent enough.
func (x *Executor) StateLag(header map[string][]string, lag *Lag) {
	if x.opts.Standby {
		x.lag().state(header)
		return
	}
	lag.State(header)
}

// State adds to the headers of a reply by how much it lags; nothing for one of leaders, and for nil.
func (l *Lag) State(header map[string][]string) { l.sum().state(header) }

func (all lagOf) state(header map[string][]string) {
	if all.node == "" {
		return
	}
	maps.Copy(header, map[string][]string{
		nodeHeader: {all.node}, lagHeader: {strconv.FormatUint(all.commits, 10)}, lagMSHeader: {strconv.FormatFloat(all.millis, 'f', 0, 64)},
	})
}

// lag returns how far this node lags behind the leader.
func (x *Executor) lag() lagOf {
	if x.opts.Cluster == nil {
		return lagOf{}
	}
	c := x.opts.Cluster()
	return lagOf{c.Node, c.Lag, c.LagMS}
}

// readsUnsure reports whether a reply would rest on a copy of which this node does not know how far it lags. One shard has no
// other copy to ask for its status, which says so by itself.
func (x *Executor) readsUnsure(v *Verb) bool {
	if x.opts.Whole == nil || x.opts.Shards <= 1 && (v.name == "status" || v.name == "whoami") {
		return false
	}
	return !x.opts.Whole()
}

// errNotWhole refuses a read from a copy that has not been complete since its node started: it may be empty, or of long ago.
func (x *Executor) errNotWhole() error {
	return apierr.Errorf(apierr.Unavailable, "", "this node does not know yet by how much its copy of shard %d lags; ask another one, or again later", x.opts.Shard)
}
