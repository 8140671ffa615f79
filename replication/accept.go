package replication

import "fmt"

// accept accepts a frame: it makes it durable in this node's log and applies it. If the log has other commits in
// its place, those are not part of the cluster's log, and accept cuts them off.
//
// The caller has judged that the frame is the next commit of the cluster's log, so the chain of hashes proves
// every commit before it, too: those of this node's log that are not applied yet are applied first. The order
// is: durable, then published as durable, then applied. A standby whose note came before its disk would let the
// leader acknowledge a commit that no second disk has.
//
// It returns errDiverged, and changes nothing, if the store has applied another commit in this place: a store
// cannot go back, so only a checkpoint helps. Every other failure is a localError.
func (n *Node) accept(f *Frame) error {
	found, ok := n.local.Find(f.At.LSN)
	switch last := n.local.Last(); {
	// The log has the frame: this node wrote it as the leader, or reads it a second time.
	case ok && found == f.At:
	case f.At.LSN <= n.local.Applied().LSN:
		return fmt.Errorf("%w: it has applied %v, and the cluster %v", errDiverged, found, f.At)
	default:
		if f.At.LSN <= last.LSN {
			keep, _ := n.local.Find(f.At.LSN - 1)
			if err := n.local.Cut(keep); err != nil {
				return localError{err}
			}
		}
		at, err := n.local.Append(f.At.Epoch, f.Payload)
		if err == nil && at != f.At {
			err = fmt.Errorf("replication: the log has made %v of the frame %v", at, f.At)
		}
		if err != nil {
			return localError{err}
		}
	}
	n.hasDurably(f.At)
	if f.At.LSN > n.local.Applied().LSN {
		if err := n.applyTo(f.At.LSN - 1); err != nil {
			return err
		}
		if err := n.local.Apply(f.At, f.Payload); err != nil {
			return localError{err}
		}
	}
	return nil
}

// applyTo applies the commits of this node's log up to an LSN. The caller knows that they are part of the
// cluster's log. A failure is always a localError.
func (n *Node) applyTo(lsn uint64) error {
	for n.local.Applied().LSN < lsn {
		at, _, payload, ok, err := n.local.Read(n.local.Applied().LSN + 1)
		if err == nil && !ok {
			err = fmt.Errorf("replication: the log does not have commit %d", n.local.Applied().LSN+1)
		}
		if err == nil {
			err = n.local.Apply(at, payload)
		}
		if err != nil {
			return localError{err}
		}
	}
	return nil
}
