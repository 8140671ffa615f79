package datadir

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/carillon-io/carillon/job"
)

// currentIdentity is the identity in force of an open data directory. Only its methods change the identity, and only
// once the file has the new one. Safe for concurrent use: a node may join its cluster anew while other goroutines read
// who it is. The lock is kept during the write of the file, so that two changes cannot write in one order and take
// effect in the other; a reader may wait for a sync, which is rare.
type currentIdentity struct {
	mu sync.Mutex
	id Identity
}

// get returns the identity in force.
func (c *currentIdentity) get() Identity {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// keep writes the identity, if it is not in a file yet. It is idempotent.
func (c *currentIdentity) keep() error {
	return c.change(func(id Identity) (Identity, error) { return id, nil })
}

// adopt stores the id of the cluster that a shard of the node has met, and how the data relates to it; see
// [Identity.adopted].
func (c *currentIdentity) adopt(clusterID string, discard, pending bool) error {
	return c.change(func(id Identity) (Identity, error) { return id.adopted(clusterID, discard, pending) })
}

// markJoined records that the data now belongs to the cluster. On a directory that discards nothing it changes
// nothing, so the caller may call it after every adoption.
func (c *currentIdentity) markJoined() error {
	return c.change(func(id Identity) (Identity, error) {
		if id.State == StateDiscarding {
			id.State = StateMember
		}
		return id, nil
	})
}

// metLeader records that the servers of a witness have a leader.
func (c *currentIdentity) metLeader() error {
	return c.change(func(id Identity) (Identity, error) {
		id.State = StateWitness
		return id, nil
	})
}

// change writes the identity that next derives from the one in force, and puts it in force. After an error the old
// identity stays in force, although the file may have the new one: the failed call is repeated, or the process ends.
func (c *currentIdentity) change(next func(Identity) (Identity, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := next(c.id)
	if err != nil || changed == c.id && !changed.drawn {
		return err
	}
	if changed, err = changed.write(); err == nil {
		c.id = changed
	}
	return err
}

// adopted returns the identity of a node of which a shard has met the cluster of an id; discard says that the shard's data
// will be replaced by the cluster's, and pending that other shards have not met the cluster, or wait for its data. Data
// that is being discarded stays so until no shard has any. It refuses a second cluster of the same name, unless the data
// is to be discarded for it, because its log is not the one that this directory continues. The zero identity adopts
// nothing.
func (id Identity) adopted(clusterID string, discard, pending bool) (Identity, error) {
	path := filepath.Join(id.dir, NodeName)
	switch {
	case id.Cluster == "":
		return id, errors.New("a node alone has no cluster to belong to")
	case !isClusterID(clusterID):
		return id, fmt.Errorf("%q is no id of a cluster; want %d hex digits", clusterID, hex.EncodedLen(clusterIDBytes))
	case id.ClusterID != "" && id.ClusterID != clusterID && !discard && !id.left:
		return id, fmt.Errorf("%s: this data directory belongs to the cluster %q with the id %s, and the one that NATS knows by that name has the id %s; "+
			"use the NATS servers of the former, or choose an empty directory with --data to join the latter", path, id.Cluster, id.ClusterID, clusterID)
	}
	if id.IsFounder() && clusterID == id.ClusterID && pending {
		return id, nil // a founder until the last of its shards has met the cluster
	}
	discard = discard || pending && (id.left || id.IsDiscarded())
	id.ClusterID, id.State, id.left = clusterID, StateMember, false
	id.founds("", 0, job.Position{})
	if discard {
		id.State = StateDiscarding
	}
	return id, nil
}
