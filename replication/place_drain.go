package replication

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// drainSeen is whether a node drains, with the revision of its key.
type drainSeen struct {
	value    drainValue
	revision uint64
}

// seeDrain records a state of the key of a node.
func (p *places) seeDrain(name string, s keyState) error {
	v, err := decodeDrain(s.value)
	if s.revision != 0 && (err != nil || v.Cluster != p.cluster) {
		return err // a node of another cluster, or nothing that can be read: the node does not drain
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.drains[name]; s.revision == 0 {
		delete(p.drains, name)
	} else if known || len(p.drains) < nodesMost {
		p.drains[name] = drainSeen{v, s.revision}
	}
	p.tell()
	return nil
}

// draining returns whether a node drains.
func (p *places) draining(node string) drainSeen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.drains[node]
}

// allDrains returns whether each node drains that has had a key.
func (p *places) allDrains() map[string]drainSeen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.drains)
}

// lostDrains returns the nodes that drain, and whose keys are gone.
func (p *places) lostDrains() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, at := range p.drains {
		if at.revision == 0 && at.value.Drains {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// putDrain writes whether a node drains if its key is still as it was last seen, and returns errLost if it is not.
func (p *places) putDrain(ctx context.Context, keys keys, node string, old drainSeen, drains bool) error {
	b := drainValue{Cluster: p.cluster, Node: node, Drains: drains}.encode()
	revision, err := keys.put(ctx, drainKeys+node, b, old.revision)
	if errors.Is(err, errLost) {
		p.refreshDrain(ctx, keys, node)
	}
	if err != nil {
		return fmt.Errorf("replication: write whether node %s drains: %w", node, err)
	}
	return p.see(keyState{drainKeys + node, b, revision})
}

// refreshDrain reads the key of a node, as refresh that of a place. A state that is not newer than the known one is old, or that of
// a bucket that was made anew: what is known still holds then, and is written over it. So is what another cluster has left.
func (p *places) refreshDrain(ctx context.Context, keys keys, node string) {
	b, revision, err := keys.get(ctx, drainKeys+node)
	if err != nil {
		return
	}
	v, err := decodeDrain(b)
	if revision != 0 && errors.Is(err, errLaterPlace) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at, known := p.drains[node]
	if !known && len(p.drains) >= nodesMost {
		return
	}
	if err == nil && v.Cluster == p.cluster && revision > at.revision {
		at.value = v
	}
	at.revision = revision
	p.drains[node] = at
	p.tell()
}
