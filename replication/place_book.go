package replication

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// places is what this process knows of the keys place.<n> and drain.<node> of the bucket. Safe for concurrent use.
type places struct {
	cluster string // of which the keys must be
	shards  int

	mu     sync.Mutex
	places map[uint32]placeSeen
	drains map[string]drainSeen // at most nodesMost
	news   chan struct{}        // capacity 1; has an element if a key has changed since it was read
}

// placeSeen is a place with the revision of its key.
type placeSeen struct {
	value    placeValue
	revision uint64 // 0: there is no key
}

// isKnown reports whether the shard has a place.
func (p *placeSeen) isKnown() bool { return p.revision != 0 && p.value.Change != 0 }

// mayHold reports whether a node is to hold the shard, as far as that is known.
func (p *placeSeen) mayHold(node string) bool {
	return !p.isKnown() || slices.Contains(p.value.Copies, node)
}

func newPlaces(cluster string, shards int) *places {
	return &places{cluster: cluster, shards: shards, places: make(map[uint32]placeSeen), drains: make(map[string]drainSeen), news: make(chan struct{}, 1)}
}

// The names of the keys are place.<number> and drain.<name>.
const (
	placeKeys = "place."
	drainKeys = "drain."
)

func keyOfPlace(shard uint32) string { return placeKeys + strconv.FormatUint(uint64(shard), 10) }

// see records a state of a key. It returns the reason that a value cannot be read; of any other key, nil. A place of shard 0, which
// is on every node, says nothing: see never records one, so none can stand in the way of the others.
func (p *places) see(s keyState) error {
	if number, ok := strings.CutPrefix(s.key, placeKeys); ok {
		if n, err := strconv.ParseUint(number, 10, 32); err == nil && n != everywhere && n < uint64(p.shards) {
			return p.seePlace(uint32(n), s)
		}
		return nil
	}
	if name, ok := strings.CutPrefix(s.key, drainKeys); ok {
		return p.seeDrain(name, s)
	}
	return nil
}

func (p *places) seePlace(shard uint32, s keyState) error {
	v, err := p.decode(s)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.tell()
	switch old := p.places[shard]; {
	case errors.Is(err, errLaterPlace):
	case s.revision == 0:
		delete(p.places, shard)
	case s.revision > old.revision || v.Change > old.value.Change:
		p.places[shard] = placeSeen{v, s.revision}
	}
	return err
}

// decode decodes a state of a place. What another cluster has left under the prefix, or a foreign program, counts as no place: it
// is replaced, and so is the key of a place that was deleted. It returns an error of a place that only a later release can read.
func (p *places) decode(s keyState) (v placeValue, err error) {
	if s.revision == 0 {
		return v, nil
	}
	if v, err = decodePlace(s.value); err == nil && v.Cluster == p.cluster || errors.Is(err, errLaterPlace) {
		return v, err
	}
	return placeValue{}, nil
}

// tell notes that something has changed. The caller holds the mutex.
func (p *places) tell() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// of returns the place of a shard; the revision is 0 if none is known.
func (p *places) of(shard uint32) placeSeen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.places[shard]
}

// all returns the places of all shards, by number.
func (p *places) all() []placeSeen {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]placeSeen, p.shards)
	for shard, at := range p.places {
		list[shard] = at
	}
	return list
}

// named returns the nodes that the keys name, sorted.
func (p *places) named() []string { return namedBy(p.all(), p.allDrains()) }

// namedBy returns the nodes that some keys name, sorted: they hold or receive copies, or drain.
func namedBy(places []placeSeen, drains map[string]drainSeen) []string {
	names := make(map[string]bool)
	for i := range places {
		v := &places[i].value
		for _, name := range v.Copies {
			names[name] = true
		}
		if v.Joins != "" {
			names[v.Joins] = true
		}
	}
	for name, at := range drains {
		if at.value.Drains {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// lost notes that the bucket was made anew: its keys are gone, and what they said still holds.
func (p *places) lost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for shard, at := range p.places {
		at.revision = 0
		p.places[shard] = at
	}
	for name, at := range p.drains {
		at.revision = 0
		p.drains[name] = at
	}
}

// revisions returns the revisions of the keys as they were last seen.
func (p *places) revisions() map[string]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := make(map[string]uint64)
	for shard, at := range p.places {
		known[keyOfPlace(shard)] = at.revision
	}
	for name, at := range p.drains {
		known[drainKeys+name] = at.revision
	}
	return known
}

// review notes which keys are gone, given all that the bucket has, and takes over those of a bucket that was made anew, as
// ledger.review does.
func (p *places) review(states []keyState, before map[string]uint64) {
	there := make(map[string]bool, len(states))
	for _, s := range states {
		there[s.key] = true
		if s.revision < before[s.key] && p.revisions()[s.key] == before[s.key] {
			_ = p.see(keyState{key: s.key})
		}
		_ = p.see(s) // what cannot be read is no place
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for shard, at := range p.places {
		if !there[keyOfPlace(shard)] {
			at.revision = 0
			p.places[shard] = at
		}
	}
	for name, at := range p.drains {
		if !there[drainKeys+name] {
			at.revision = 0
			p.drains[name] = at
		}
	}
}

// put writes the place of a shard if it is still as it was last seen, and returns errLost if it is not.
func (p *places) put(ctx context.Context, keys keys, old placeSeen, v placeValue) error {
	v.Cluster, v.Change = p.cluster, old.value.Change+1
	b := v.encode()
	revision, err := keys.put(ctx, keyOfPlace(v.Shard), b, old.revision)
	if errors.Is(err, errLost) {
		p.refresh(ctx, keys, v.Shard)
	}
	if err != nil {
		return fmt.Errorf("replication: write the place of shard %d: %w", v.Shard, err)
	}
	return p.see(keyState{keyOfPlace(v.Shard), b, revision})
}

// refresh reads the key of a place, because it is not what was known of it: another process has written it, or the bucket was
// made anew. A place from before the one that is known is left alone: the read is old, and then the next write fails as well and
// reads again; or the bucket has gone back, and then review takes over what it has, as in all other processes. What a later
// release has written stays unknown, so that it is not written over.
func (p *places) refresh(ctx context.Context, keys keys, shard uint32) {
	b, revision, err := keys.get(ctx, keyOfPlace(shard))
	if err != nil {
		return
	}
	v, err := p.decode(keyState{keyOfPlace(shard), b, revision})
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.tell()
	switch at := p.places[shard]; {
	case revision == 0 || v.Change == 0: // there is none, and what it said still holds
		p.places[shard] = placeSeen{at.value, revision}
	case v.Change >= at.value.Change:
		p.places[shard] = placeSeen{v, revision}
	}
}
