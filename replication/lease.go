package replication

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The lease names the node that may try to lead. It is a hint that is nearly always right; the log is the
// fence. Its times come from clocks that only run forward and do not stop while the machine sleeps. Each node
// compares only readings of its own clock.

// leaseValue is the content of the lease's key.
//
// Its members are part of the format: nodes of different releases read the same key. Nodes compare terms and
// renewals, never times, because their clocks need not agree.
type leaseValue struct {
	Version  int    `json:"version"`
	Cluster  string `json:"cluster"`
	Node     string `json:"node"`
	Process  string `json:"process,omitempty"` // process of the node; "" from an older release
	Term     uint64 `json:"term"`              // grows by 1 with each change of the holder
	Renewal  uint64 `json:"renewal"`           // grows by 1 with each renewal in a term
	Released bool   `json:"released"`          // the holder has given the lease up
	To       string `json:"to"`                // node for which the holder gave it up; "": any node
	Last     *place `json:"last,omitempty"`    // newest commit of a holder that gave it up; nil from an older release

	// Heirs are the processes that may take over before the lease has ended if the holder falls silent, in the
	// form of heirOf. The holder launches only while all of them promise not to take the lease, or shortly
	// after a renewal. All other nodes wait for the end of the lease. nil: the holder runs an older release
	// that knows no heirs.
	//
	// The holder that gives a lease up names the heirs that its successor is to name in its claim.
	Heirs []string `json:"heirs"`

	// Only in a cluster with several shards, where the key of the holder's node renews the lease and names the heirs,
	// see ledger: the shard, and the epoch of the holder's node.
	Shard uint32 `json:"shard,omitempty"`
	Epoch uint64 `json:"epoch,omitempty"`
}

const leaseVersion = 1

// errDamagedLease says that the key holds something else than a lease. Only a foreign program can have written
// it.
var errDamagedLease = errors.New("replication: the lease is damaged")

func (v leaseValue) encode() []byte {
	v.Version = leaseVersion
	b, _ := json.Marshal(v) // strings and numbers: it cannot fail
	return b
}

// same reports whether two values are equal, heirs aside.
func (v leaseValue) same(o leaseValue) bool {
	return v.Cluster == o.Cluster && v.Node == o.Node && v.Process == o.Process && v.Term == o.Term && v.Renewal == o.Renewal && v.Released == o.Released && v.To == o.To
}

// isReleaseOf reports whether two values show that the same leadership has ended. What the key of the holder's node has
// become since then, see ledger, changes nothing about that.
func (v leaseValue) isReleaseOf(o leaseValue) bool {
	return v.Released && o.Released && v.Cluster == o.Cluster && v.Node == o.Node && v.Process == o.Process && v.Term == o.Term && v.To == o.To
}

// after reports whether v was written after o. Revisions of the bucket do not show that: they begin again when
// the bucket is made anew.
func (v leaseValue) after(o leaseValue) bool {
	return v.Term > o.Term || v.Term == o.Term && v.Renewal > o.Renewal
}

// decodeLease decodes the value of the key. Another version is not damage: the lease of a newer release stays,
// because a node that cannot read it knows only older revisions, and its compare-and-set fails.
func decodeLease(b []byte) (v leaseValue, err error) {
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("%w: %w", errDamagedLease, err)
	}
	if v.Version != leaseVersion {
		return v, fmt.Errorf("replication: the lease has version %d, and this program knows %d", v.Version, leaseVersion)
	}
	return v, nil
}
