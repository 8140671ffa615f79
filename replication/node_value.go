package replication

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// nodeValue is the content of the key of a node. Its members are part of the format.
type nodeValue struct {
	Version int    `json:"version"`
	Cluster string `json:"cluster"`
	Node    string `json:"node"`
	Process string `json:"process"` // "": another node has ended the epoch
	// Epoch grows by 1 when a process of the node begins to hold leases, and when another node ends that: then all
	// leases of the epoch are over at once, because the process can renew none of them.
	Epoch   uint64 `json:"epoch"`
	Renewal uint64 `json:"renewal"` // grows by 1 with each write
	EndedBy string `json:"ended_by,omitempty"`
	// Ended is the process whose epoch was ended; "" while a process holds the key.
	Ended  string       `json:"ended,omitempty"`
	Shards []shardGrant `json:"shards"`
}

const nodeVersion = 1

// shardGrant is a shard that a node leads, as it renews it.
type shardGrant struct {
	Shard uint32   `json:"shard"`
	Term  uint64   `json:"term"`
	Heirs []string `json:"heirs"` // see leaseValue
}

// renews reports whether the node renews a lease, and returns the heirs that it names.
func (v *nodeValue) renews(lease *leaseValue) (heirs []string, ok bool) {
	if v.Process == "" || v.Process != lease.Process || v.Epoch != lease.Epoch {
		return nil, false
	}
	i := slices.IndexFunc(v.Shards, func(g shardGrant) bool { return g.Shard == lease.Shard && g.Term == lease.Term })
	if i < 0 {
		return nil, false
	}
	return append([]string{}, v.Shards[i].Heirs...), true
}

// latest returns the latest process that held the key.
func (v *nodeValue) latest() string { return cmp.Or(v.Process, v.Ended) }

// hasEnded reports whether the epoch of a process is over: it was ended, or a later process of the node holds the key.
func (v *nodeValue) hasEnded(process string, epoch uint64) bool {
	return v.latest() > process || v.latest() == process && v.Epoch > epoch
}

// after reports whether v was written after o. Epochs begin again in a bucket that was made anew; then the process tells,
// because a process that was started later has a greater identifier.
func (v *nodeValue) after(o nodeValue) bool {
	if v.latest() != o.latest() {
		return v.latest() > o.latest()
	}
	return v.Epoch > o.Epoch || v.Epoch == o.Epoch && v.Renewal > o.Renewal
}

func (v nodeValue) encode() []byte {
	v.Version = nodeVersion
	b, _ := json.Marshal(v) // strings and numbers: it cannot fail
	return b
}

// decodeNode decodes the value of the key of a node. Another version is not damage: it stays, as that of a lease does.
func decodeNode(b []byte) (v nodeValue, err error) {
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("%w: %w", errDamagedLease, err)
	}
	if v.Version != nodeVersion {
		return v, fmt.Errorf("replication: the lease of a node has version %d, and this program knows %d", v.Version, nodeVersion)
	}
	return v, nil
}
