package scheduler

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/job"
)

// The rules of timezones are an input of schedules, and they change: with another version of the program, with
// the machine's files if those are chosen, or because the next leader is another node. The store remembers, for each
// zone that a job was ever read in, the digest of the rules that its jobs are planned by. An engine that begins to
// lead compares; where its own rules differ, the jobs of the zone follow like those of a calendar that changed.
//
// A tick that was due before the engine led stays as it was planned: it is owed by the rules of then.

const (
	// metaZone begins the names of rows that have the digest of a zone's rules; the zone's name follows.
	metaZone = "zone/"
	// metaTZData has the version of the rules, as a number.
	metaTZData = "tzdata"
)

// zonesMax bounds the zones that are remembered, about seven times as many as there are. What is beyond
// is planned anew by a put of the job only.
const zonesMax = 4096

// zoneMemory is what an engine knows of the zones of its jobs.
type zoneMemory struct {
	rules   *job.Zones
	byName  map[string]*zoneRules
	version uint64 // of the rules that jobs are planned by, as the store has it; 0: not known

	digest  uint64 // of the own rules of all these zones
	differs int    // zones whose jobs are planned by other rules
	changed int    // zones whose rules had changed when the engine began to lead
	moved   int    // jobs whose next tick that has moved so far
}

// zoneRules are the digests of one zone.
type zoneRules struct {
	own    uint64 // of the rules of this process; 0: it has no such zone
	kept   uint64 // of the rules that the zone's jobs are planned by
	isKept bool   // the store has the latter
}

func (r *zoneRules) differ() bool { return r.isKept && r.kept != r.own }

func newZoneMemory(rules *job.Zones) zoneMemory {
	return zoneMemory{rules: rules, byName: make(map[string]*zoneRules)}
}

// get returns what is known of a zone; nil, if there are too many.
func (z *zoneMemory) get(name string) *zoneRules {
	r := z.byName[name]
	if r != nil || len(z.byName) >= zonesMax {
		return r
	}
	r = &zoneRules{own: z.rules.Digest(name)}
	name = strings.Clone(name)
	z.byName[name] = r
	z.digest += mixZone(name, r.own) // in any order
	return r
}

// note takes in that a schedule is read in some zones.
func (z *zoneMemory) note(spec job.Spec) {
	for _, name := range spec.Zones() {
		z.get(name)
	}
}

// keep takes in the digest of a zone, as the store has it.
func (z *zoneMemory) keep(name string, digest uint64) {
	r := z.get(name)
	if r == nil {
		return
	}
	if r.differ() {
		z.differs--
	}
	if r.kept, r.isKept = digest, true; r.differ() {
		z.differs++
	}
}

func mixZone(name string, digest uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, digest))
	return h.Sum64()
}

// zoneChange is what an engine that begins to lead writes down of the zones.
type zoneChange struct {
	names    []string // zones whose digests are written, in order
	changed  []string // those of them that had another
	from, to uint64   // versions
	concerns bool     // there are jobs in them
}

// zoneChange compares the rules of this process with those that jobs are planned by. It changes nothing.
func (c *Core) zoneChange() zoneChange {
	z := &c.zones
	ch := zoneChange{from: z.version, to: versionNumber(z.rules.Version())}
	for _, name := range slices.Sorted(maps.Keys(z.byName)) {
		r := z.byName[name]
		if !r.isKept || r.differ() {
			ch.names = append(ch.names, name)
		}
		if r.differ() {
			ch.changed = append(ch.changed, name)
		}
	}
	ch.concerns = len(ch.changed) > 0 && len(c.profiles.inZones(ch.changed)) > 0
	return ch
}

// write adds the rows of a change to the commit that begins an epoch.
func (ch *zoneChange) write(b *job.Batch, z *zoneMemory) {
	for _, name := range ch.names {
		b.PutMeta(metaZone+name, z.byName[name].own)
	}
	if ch.from != ch.to {
		b.PutMeta(metaTZData, ch.to)
	}
	if ch.concerns {
		b.PutMeta(metaReplan, 1)
	}
}

// takeZoneChange takes in a change that is durable: the jobs are to follow.
func (c *Core) takeZoneChange(ch *zoneChange) {
	z := &c.zones
	for _, name := range ch.names {
		z.keep(name, z.byName[name].own)
	}
	z.version, z.changed = ch.to, len(ch.changed)
	if c.replanning { // what a leader before this one left over is not known one by one
		c.profiles.markAll()
	}
	if ch.concerns {
		c.replanning = true
		c.profiles.mark(c.profiles.inZones(ch.changed))
	}
}

// keepZones writes down by which rules a new schedule is read.
func (c *Core) keepZones(spec job.Spec) {
	for _, name := range spec.Zones() {
		if r := c.zones.get(name); r != nil && !r.isKept {
			c.zones.keep(name, r.own)
			c.out.Batch.PutMeta(metaZone+name, r.own)
		}
	}
}

// versionNumber returns the version of zone rules, such as 2025c, as a number: 202503. One that is no
// such version is 0.
func versionNumber(version string) uint64 {
	var year uint64
	var letter rune
	if n, err := fmt.Sscanf(version, "%4d%c", &year, &letter); n != 2 || err != nil || len(version) != 5 || letter < 'a' || letter > 'z' || year < 1000 {
		return 0
	}
	return year*100 + uint64(letter-'a') + 1
}

func versionText(n uint64) string {
	if letter := n % 100; n/100 >= 1000 && n/100 <= 9999 && letter >= 1 && letter <= 26 {
		return fmt.Sprintf("%d%c", n/100, 'a'+rune(letter)-1)
	}
	return job.ZonesUnknown
}

// Zones is what an engine knows of the rules of timezones.
type Zones struct {
	Source  string // of the rules of this process: see [job.Zones]
	Version string
	Digest  uint64 // of these rules, for all zones of Count together
	Count   int    // zones that jobs were ever read in, but for UTC
	Differs int    // those of them whose jobs are planned by other rules, as a standby may find it
	Changed int    // zones whose rules had changed when the engine began to lead
	Moved   int    // jobs whose next tick that has moved since
}

func (z *zoneMemory) reading() Zones {
	return Zones{
		Source: z.rules.Source(), Version: z.rules.Version(), Digest: z.digest,
		Count: len(z.byName), Differs: z.differs, Changed: z.changed, Moved: z.moved,
	}
}
