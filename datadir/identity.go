package datadir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/carillon-io/carillon/job"
)

// The file that says which node of which cluster a data directory is, and its format: one line of JSON. Version
// 1 is a member of a cluster; version 2 also has a state, while the directory is anything else. Version 3 is a founder that has
// more to say about the log that it gives up.
const (
	// A release that knows version 1 alone must refuse a directory with a state, because it would take a witness or a
	// founder for a member.
	identityVersion  = 1
	identityVersion2 = 2
	identityVersion3 = 3
	// More than any valid file has; a longer one is damaged and is not read into memory.
	identityBytesMax = 4 << 10
	// 128 random bits: no two clusters draw the same id.
	clusterIDBytes = 16
	// Enough to tell apart the few nodes on hosts of one name; a name must stay short enough to be typed.
	nodeSuffixBytes = 3
)

// ErrIdentityVersion is returned by [OpenDirectory] for a data directory whose file NODE has another format.
var ErrIdentityVersion = errors.New("the file NODE is of a version that this carillon does not know; run the one that wrote it, or a later one")

// The states of a directory that is no member of a cluster yet, or never will be.
const (
	StateMember     = ""
	StateNew        = "new"         // named, and has not met a cluster: the cluster's name may still change
	StateFounder    = "founder"     // will found the cluster of its id
	StateDiscarding = "discarding"  // its data will be replaced by that of the cluster of its id
	StateWitnessNew = "witness-new" // a witness whose servers have had no leader: the cluster's name may still change
	StateWitness    = "witness"
)

// Identity says which node of which cluster a data directory is. The zero value is a node alone. It is a value:
// [currentIdentity] holds the one in force.
//
// Invariant: once written, Node never changes, Cluster does not change once the node has met the cluster, and
// ClusterID changes once, from none to the cluster's; only [Found] and discarded data begin anew. JetStream
// identifies a peer by the name of its node: under another name it would be another peer, and the old one would
// be missing for ever.
type Identity struct {
	// set by write; a value in memory may have an older one
	Version   int    `json:"version"`
	Node      string `json:"node"`
	Cluster   string `json:"cluster"`
	ClusterID string `json:"cluster_id"` // 32 hex digits; empty until the node has met the cluster
	State     string `json:"state,omitempty"`
	// It becomes void when the founder has met its cluster.
	GivesUp string `json:"gives_up,omitempty"` // of a founder: id of the cluster whose log it replaces
	// The following are of a founder, and void like GivesUp.
	Loses        uint64 `json:"loses,omitempty"`         // how many commits of that log may be lost because the data lacks them
	DividedLSN   uint64 `json:"divided_lsn,omitempty"`   // where the data ended that was divided into that of this directory; 0: none was
	DividedEpoch uint64 `json:"divided_epoch,omitempty"` // likewise

	dir   string
	drawn bool // drawn just now, and not yet in a file
	left  bool // the file names another cluster, whose data will be discarded; it changes when the node meets the new one
}

// openIdentity returns the identity of dir, and draws one for the cluster if dir has none; [currentIdentity.keep]
// writes it once the contents of dir were found fit for a start. The caller holds the lock of the directory. It
// refuses a directory that belongs to another cluster or node than the options name, and a witness's directory for a
// node. A directory that was only named by a start that never met its cluster can be started without one: nothing in
// it refers to the cluster yet.
func openIdentity(dir string, o Options) (Identity, error) {
	id, err := ReadIdentity(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newIdentity(dir, o)
	case err != nil:
		return Identity{}, err
	case o.anyIdentity:
		return id, nil
	case !o.clustered() && id.State == StateNew:
		return Identity{}, nil // it has not met the cluster, so nothing can have diverged
	}
	if err := id.checkRole(o); err != nil {
		return Identity{}, err
	}
	if err := id.checkNames(o); err != nil {
		return Identity{}, err
	}
	if o.ClusterName != id.Cluster {
		id.left = id.ClusterID != ""
		id.Cluster, id.drawn = o.ClusterName, !id.left
	}
	return id, nil
}

// checkRole refuses a witness on the directory of a node, a node on that of a witness, and either on its own directory
// without a cluster. The error of a start without --cluster-name is the one that matters most: a member that ran alone
// would fire jobs that its cluster fires, too.
func (id Identity) checkRole(o Options) error {
	path := filepath.Join(id.dir, NodeName)
	switch {
	case !o.clustered():
		return fmt.Errorf("%s: this data directory is node %q of cluster %q, and running it alone would fork the cluster's jobs; "+
			"start it with --cluster-name %s%s", path, id.Node, id.Cluster, id.Cluster, id.wayOut())
	case o.Witness && !id.isWitness():
		return fmt.Errorf("%s: this data directory is node %q of cluster %q, and a witness has no data; "+
			"start it without --witness, or choose an empty directory for the witness with --data", path, id.Node, id.Cluster)
	case !o.Witness && id.isWitness():
		return fmt.Errorf("%s: this directory is the witness %q of cluster %q; "+
			"start it with --witness, or choose an empty directory for a node with data with --data", path, id.Node, id.Cluster)
	}
	return nil
}

// wayOut says how to take a directory out of its cluster, as the end of a sentence; "" if it cannot be: a node alone has one shard.
func (id Identity) wayOut() string {
	if parts, err := readParts(id.dir); err == nil && len(parts.shards) > 1 {
		return fmt.Sprintf("; it has %d shards, and a node alone has one, so it cannot leave the cluster", len(parts.shards))
	}
	return "; to take it out of the cluster for good, delete that file"
}

// checkNames refuses options whose names differ from those of the directory. The name of a new directory may still
// change, since no server has heard of it.
func (id Identity) checkNames(o Options) error {
	path := filepath.Join(id.dir, NodeName)
	switch {
	case o.Node != "" && o.Node != id.Node:
		return fmt.Errorf("%s: this data directory is node %q, not %q; "+
			"start it with --node %s or without --node, or choose an empty directory with --data", path, id.Node, o.Node, id.Node)
	case o.ClusterName == id.Cluster, id.State == StateNew, id.State == StateWitnessNew:
		return nil
	case id.State == StateFounder:
		return fmt.Errorf("%s: this data directory is to found cluster %q, not %q; start it with --cluster-name %s, or run `carillon cluster found` again",
			path, id.Cluster, o.ClusterName, id.Cluster)
	case o.DiscardData && !o.Witness:
		return nil
	}
	return fmt.Errorf("%s: this data directory belongs to cluster %q, not to %q; "+
		"start it with --cluster-name %s, or choose an empty directory with --data", path, id.Cluster, o.ClusterName, id.Cluster)
}

func (id Identity) isWitness() bool { return id.State == StateWitness || id.State == StateWitnessNew }

// IsFounder reports whether the directory is to found a cluster.
func (id Identity) IsFounder() bool { return id.State == StateFounder }

// IsDiscarded reports whether the data will be replaced by that of the cluster of the id.
func (id Identity) IsDiscarded() bool { return id.State == StateDiscarding }

// IsOwn reports whether the data belongs to no cluster, or to none that counts. Such data may be replayed whole, and
// is put aside if the node joins a cluster that has other data.
func (id Identity) IsOwn() bool {
	return id.ClusterID == "" || id.State == StateDiscarding || id.left
}

// newIdentity draws a name for a directory without one. It refuses to make the directory of a node a witness's.
// Without a cluster there is no identity and no file: the zero value.
func newIdentity(dir string, o Options) (Identity, error) {
	if !o.clustered() {
		return Identity{}, nil
	}
	id := Identity{Node: o.Node, Cluster: o.ClusterName, State: StateNew, dir: dir, drawn: true}
	if o.Witness {
		id.State = StateWitnessNew
		for _, name := range []string{PartsName, ShardsName, LogName, StoreName} {
			if exists(filepath.Join(dir, name)) {
				return Identity{}, fmt.Errorf("%s: this directory holds the data of a node, and a witness has none; "+
					"start it without --witness, or choose an empty directory for the witness with --data", filepath.Join(dir, name))
			}
		}
	}
	if id.Node == "" {
		host, _ := os.Hostname() // a host without a name can be a node too
		id.Node = drawNode(host)
	}
	return id, nil
}

// drawNode derives a name from the host's. The suffix distinguishes hosts of one name, such as cloned machines. The
// result is a valid subject token of bounded length.
func drawNode(host string) string {
	host = strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", r) {
			return r
		}
		return '-'
	}, strings.ToLower(host))
	if host = strings.Trim(host, "-_"); host == "" {
		host = "node"
	}
	suffix := make([]byte, nodeSuffixBytes)
	_, _ = rand.Read(suffix) // never fails
	most := job.TenantBytesMax - 1 - hex.EncodedLen(nodeSuffixBytes)
	return host[:min(len(host), most)] + "-" + hex.EncodeToString(suffix)
}
