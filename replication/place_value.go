package replication

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// placeValue is the content of the key place.<n> of the bucket: which nodes hold a copy of shard n. Its members are part of
// the format. Only a cluster with several shards has such keys, and none for shard 0, of which each node holds a copy.
//
// The key decides what nodes hold, and nothing about leading: a node that holds a copy that it should not have does no harm,
// because it follows the log like the others.
type placeValue struct {
	Version int    `json:"version"`
	Cluster string `json:"cluster"`
	Shard   uint32 `json:"shard"`
	// Copies are the nodes that hold a whole copy, or did when they were last heard, in the order of their names.
	Copies []string `json:"copies"`
	// Joins is the node that receives a copy; "" if none does. Leaves is one of Copies, which gives its copy up when Joins
	// has all; "" if none does.
	Joins  string `json:"joins,omitempty"`
	Leaves string `json:"leaves,omitempty"`
	// Pinned says that an operator has placed the shard: it is not moved for balance.
	Pinned bool `json:"pinned,omitempty"`
	// Change grows by 1 with each write.
	Change uint64 `json:"change"`
}

const placeVersion = 1

// errLaterPlace says that a later release has written a key, which this one must not replace.
var errLaterPlace = errors.New("replication: a later release has written this key")

// has reports whether a node is to hold the shard, or receives it.
func (v *placeValue) has(node string) bool { return v.Joins == node || slices.Contains(v.Copies, node) }

// with returns the value with one more copy, and with no move under way.
func (v placeValue) with(node string) placeValue {
	v = v.without(node)
	v.Copies = append(v.Copies, node)
	slices.Sort(v.Copies)
	return v
}

// without returns the value without a node, and with no move under way that concerns it.
func (v placeValue) without(node string) placeValue {
	v.Copies = slices.DeleteFunc(slices.Clone(v.Copies), func(name string) bool { return name == node })
	if v.Joins == node {
		v.Joins, v.Leaves = "", ""
	}
	if v.Leaves == node {
		v.Leaves = ""
	}
	return v
}

func (v placeValue) encode() []byte {
	v.Version = placeVersion
	b, _ := json.Marshal(v) // strings and numbers: it cannot fail
	return b
}

// decodePlace decodes the value of the key of a place.
func decodePlace(b []byte) (v placeValue, err error) {
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("replication: a place is damaged: %w", err)
	}
	if v.Version != placeVersion {
		return v, fmt.Errorf("%w: a place of version %d, and this program knows %d", errLaterPlace, v.Version, placeVersion)
	}
	return v, nil
}

// drainValue is the content of the key drain.<node>: whether the node is to hold and lead nothing.
type drainValue struct {
	Version int    `json:"version"`
	Cluster string `json:"cluster"`
	Node    string `json:"node"`
	Drains  bool   `json:"drains"`
}

func (v drainValue) encode() []byte {
	v.Version = placeVersion
	b, _ := json.Marshal(v) // strings and numbers: it cannot fail
	return b
}

// decodeDrain decodes the value of the key of a node that drains.
func decodeDrain(b []byte) (v drainValue, err error) {
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("replication: the key of a node that drains is damaged: %w", err)
	}
	if v.Version != placeVersion {
		return v, fmt.Errorf("%w: that of a node that drains, of version %d, and this program knows %d", errLaterPlace, v.Version, placeVersion)
	}
	return v, nil
}
