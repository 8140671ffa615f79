package replication

import (
	"errors"

	"github.com/carillon-io/carillon/job"
)

// Old says whether the cluster has the data that a checkpoint replaces.
type Old uint8

const (
	// OldUnknown is data of this cluster that ends before the base of the leader's log: what the node applied
	// was part of the cluster's log once, but nothing shows whether it still is.
	OldUnknown Old = iota
	// OldPart is data that is part of the cluster's log: the checkpoint includes it.
	OldPart
	// OldForeign is data that is not part of the cluster's log.
	OldForeign
)

// errForeign is the reason for joining anew of a node that gives its own data up for the cluster's.
var errForeign = errors.New("replication: this node's data is of no part of the cluster, and is given up for the cluster's")

// place is a position as requests and notes carry it.
type place struct {
	LSN   uint64   `json:"lsn"`
	Epoch uint64   `json:"epoch"`
	Hash  [16]byte `json:"hash"`
}

func placeOf(at job.Position) *place { return &place{at.LSN, at.Epoch, at.Hash} }

func (p *place) position() job.Position {
	return job.Position{LSN: p.LSN, Epoch: p.Epoch, Hash: p.Hash}
}

// The judgement of an offer about the position in the request: it is part of the offering node's log, or it is
// not. "" means that this is unknown: the log does not reach back that far, or an older release replies.
const (
	ownPart    = "part"
	ownForeign = "foreign"
)

// judge returns whether a position is part of this node's log.
func (n *Node) judge(p *place) string {
	if p == nil {
		return ""
	}
	found, ok := n.local.Find(p.LSN)
	switch {
	case ok && found == p.position():
		return ownPart
	case ok, p.LSN > n.local.Last().LSN:
		return ownForeign
	default:
		return ""
	}
}

// oldData classifies the data that a node replaces, by the cause of the replacement and the offer. In doubt it
// is not OldPart, because only that data is removed: it is kept with the others.
func oldData(cause error, o *offer) Old {
	switch {
	case errors.Is(cause, errDiverged), errors.Is(cause, errForeign), o.Own == ownForeign:
		return OldForeign
	case o.Own == ownPart:
		return OldPart
	default:
		return OldUnknown
	}
}
