package core

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/schedule"
)

// Schedules depend on the rules of timezones, and those can change: with another version of the program, with the
// files of the machine if those are used, or because the next leader is another node. The store keeps, for each zone
// that any job was ever read in, the digest of the rules by which its jobs are planned. An engine that begins to lead
// compares the digests. Where its own rules differ, the jobs of the zone follow, like those of a changed calendar.
//
// A tick that was due before the engine led stays as it was planned: it is owed by the rules of its time.

const (
	// MetaZone is the prefix of the names of rows that hold the digest of a zone's rules; the name of the zone
	// follows.
	MetaZone = "zone/"
	// MetaTZData holds the version of the rules, as a number.
	MetaTZData = "tzdata"
)

// zonesMax bounds the zones that are remembered, at about seven times as many as exist. In a zone beyond the bound, a
// job is planned again only by a put.
const zonesMax = 4096

// zoneMemory is what an engine knows of the zones of its jobs.
type zoneMemory struct {
	rules   *schedule.Zones
	byName  map[string]*zoneRules
	version uint64 // of the rules by which jobs are planned, as the store has it; 0: unknown

	digest  uint64 // of this process's rules of all these zones
	differs int    // zones whose jobs are planned by other rules than this process's
	changed int    // zones whose rules had changed when the engine began to lead
	moved   int    // jobs whose next tick has changed by that so far
}

// zoneRules are the digests of one zone.
type zoneRules struct {
	own    uint64 // of the rules of this process; 0: it does not know the zone
	kept   uint64 // of the rules by which the zone's jobs are planned
	isKept bool   // kept is in the store
}

// differ reports whether the zone's jobs are planned by other rules than those of this process. A zone whose
// digest the store does not have counts as equal.
func (r *zoneRules) differ() bool { return r.isKept && r.kept != r.own }

func newZoneMemory(rules *schedule.Zones) zoneMemory {
	return zoneMemory{rules: rules, byName: make(map[string]*zoneRules)}
}

// get returns what is known of a zone, or nil if there are too many zones.
func (z *zoneMemory) get(name string) *zoneRules {
	r := z.byName[name]
	if r != nil || len(z.byName) >= zonesMax {
		return r
	}
	r = &zoneRules{own: z.rules.Digest(name)}
	name = strings.Clone(name)
	z.byName[name] = r
	z.digest += mixZone(name, r.own) // independent of the order of zones
	return r
}

// note records that a schedule is read in some zones.
func (z *zoneMemory) note(spec schedule.Spec) {
	for _, name := range spec.Zones() {
		z.get(name)
	}
}

// keep adds the digest of a zone from its stored row.
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

// mixZone mixes the digest of a zone with its name. The results are added up, so that two nodes with the same zones
// have the same sum, in whatever order they met them.
func mixZone(name string, digest uint64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, digest))
	return h.Sum64()
}

// zoneChange is what an engine that begins to lead writes about the zones. It is prepared before the commit and
// applied after it, like the epoch that it is part of.
type zoneChange struct {
	names    []string // zones whose digests are written, in order
	changed  []string // those of them whose digest was another one
	from, to uint64   // versions
	concerns bool     // there are jobs in them
}

// zoneChange compares the rules of this process with those by which jobs are planned. It changes nothing.
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
		b.PutMeta(MetaZone+name, z.byName[name].own)
	}
	if ch.from != ch.to {
		b.PutMeta(MetaTZData, ch.to)
	}
	if ch.concerns {
		b.PutMeta(MetaReplan, 1)
	}
}

// takeZoneChange handles a durable change: the jobs have to follow.
func (c *Core) takeZoneChange(ch *zoneChange) {
	z := &c.zones
	for _, name := range ch.names {
		z.keep(name, z.byName[name].own)
	}
	z.version, z.changed = ch.to, len(ch.changed)
	if c.replanning { // which zones an earlier leader left over is not known
		c.profiles.markAll()
	}
	if ch.concerns {
		c.replanning = true
		c.profiles.mark(c.profiles.inZones(ch.changed))
	}
}

// keepZones records by which rules a new schedule is read.
func (c *Core) keepZones(spec schedule.Spec) {
	for _, name := range spec.Zones() {
		if r := c.zones.get(name); r != nil && !r.isKept {
			c.zones.keep(name, r.own)
			c.out.Batch.PutMeta(MetaZone+name, r.own)
		}
	}
}

// versionNumber returns the version of zone rules as a number: 202503 for 2025c. A text of another form gives 0.
func versionNumber(version string) uint64 {
	var year uint64
	var letter rune
	if n, err := fmt.Sscanf(version, "%4d%c", &year, &letter); n != 2 || err != nil || len(version) != 5 || letter < 'a' || letter > 'z' || year < 1000 {
		return 0
	}
	return year*100 + uint64(letter-'a') + 1
}

// versionText is the reverse of versionNumber. It returns [schedule.ZonesUnknown] for any other number.
func versionText(n uint64) string {
	if letter := n % 100; n/100 >= 1000 && n/100 <= 9999 && letter >= 1 && letter <= 26 {
		return fmt.Sprintf("%d%c", n/100, 'a'+rune(letter)-1)
	}
	return schedule.ZonesUnknown
}

// Zones is what an engine knows of the rules of timezones.
type Zones struct {
	Source  string // of the rules of this process: see [schedule.Zones]
	Version string
	Digest  uint64 // of these rules, for all zones of Count together
	Count   int    // zones that jobs were ever read in, except UTC
	Differs int    // those of them whose jobs are planned by other rules, as on a standby
	Changed int    // zones whose rules had changed when the engine began to lead
	Moved   int    // jobs whose next tick has changed by that
}

func (z *zoneMemory) reading() Zones {
	return Zones{
		Source: z.rules.Source(), Version: z.rules.Version(), Digest: z.digest,
		Count: len(z.byName), Differs: z.differs, Changed: z.changed, Moved: z.moved,
	}
}
