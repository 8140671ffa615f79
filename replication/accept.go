package replication

import "fmt"

// accept accepts a frame: it makes it durable in this node's log and applies it. If the log has other commits in
// its place, those are not part of the cluster's log, and accept cuts them off.
func (n *Node) accept(f *Frame) error {
	found, ok := n.local.Find(f.At.LSN)
	switch last := n.local.Last(); {
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
// cluster's log.
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
