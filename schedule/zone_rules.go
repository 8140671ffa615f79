package schedule

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
	"time"
)

// Sources of the rules of timezones.
const (
	ZonesEmbedded = "embedded" // in the binary, the same on every machine
	ZonesSystem   = "system"   // the machine's own
)

// ZonesUnknown is the version of rules whose version is not known.
const ZonesUnknown = "unknown"

// Zones are the rules of timezones: what a name such as Europe/Berlin means. Every schedule that names a zone depends
// on them. They do not change while a process runs. Safe for concurrent use. [NewZones] makes them; the zero value
// has none and must not be used. The caches belong to it, because the same name may mean other rules from another
// source.
type Zones struct {
	source, version string
	// find is asked for names that are not cached, and may read a file.
	find func(name string) (*time.Location, error)

	// Each cache is bounded by itself; what is not in it is computed again.
	locations *intern[string, *time.Location]
	schedules *intern[Spec, *Schedule]
	digests   *intern[string, uint64]
}

// NewZones returns the rules of a source at a version such as 2025c, or "" if that is not known. find returns the
// zone of an IANA name other than UTC, under that very name, or an error if there is none. It is called from several
// goroutines, and its results are cached.
func NewZones(source, version string, find func(name string) (*time.Location, error)) *Zones {
	if version == "" {
		version = ZonesUnknown
	}
	return &Zones{
		source: source, version: version, find: find,
		locations: newIntern[string, *time.Location](zonesKept),
		schedules: newIntern[Spec, *Schedule](schedulesKept),
		digests:   newIntern[string, uint64](zonesKept),
	}
}

// Source returns where the rules come from: [ZonesEmbedded], [ZonesSystem], or what NewZones was given.
func (z *Zones) Source() string { return z.source }

// Version returns the version of the rules, or [ZonesUnknown].
func (z *Zones) Version() string { return z.version }

// Location returns the zone of a name; "" and "UTC" are UTC. The error is an [*apierr.Error].
func (z *Zones) Location(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	return z.load(name)
}

// digestUntil is the end of the time that a digest covers. The tables of zones end before it, and after them every
// year is the same. A later bound would make the digests of all zones slower and distinguish nothing more.
var digestUntil = time.Date(2101, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// Digest returns a number for what the clock of a zone shows since 1970: two rules with the same number give the same
// instants. It does not depend on how zones are written in files, nor on their abbreviations. An unknown zone has 0.
// It serves to compare the rules of two machines or of two releases, which decide different ticks if they differ.
// It is computed once for each name and takes some hundred visits of periods.
func (z *Zones) Digest(name string) uint64 {
	if n, ok := z.digests.get(name); ok {
		return n
	}
	loc, err := z.Location(name)
	n := uint64(0)
	if err == nil {
		n = digestOf(loc)
	}
	z.digests.put(strings.Clone(name), n)
	return n
}

// digestOf hashes the instants at which the offset changes, and the offsets (FNV-1a, 64 bits). It is never 0, which
// stands for an unknown zone.
func digestOf(loc *time.Location) uint64 {
	h := fnv.New64a()
	offset := int64(endless) // an offset that no zone has
	for sec := int64(0); sec < digestUntil; {
		p := periodAt(loc, sec)
		if p.offset != offset {
			offset = p.offset
			var b [16]byte
			binary.LittleEndian.PutUint64(b[:], uint64(sec))
			binary.LittleEndian.PutUint64(b[8:], uint64(offset))
			_, _ = h.Write(b[:])
		}
		sec = p.end
	}
	return max(h.Sum64(), 1)
}

// Zones returns the names of the zones in which a schedule is read, except UTC. The caller owns the slice; it is nil
// if there are no zones.
func (s Spec) Zones() (names []string) {
	if s.Zone != "" && s.Zone != "UTC" {
		names = append(names, s.Zone)
	}
	if !strings.Contains(s.Expr, "TZ=") {
		return names
	}
	for line := range strings.SplitSeq(s.Expr, "\n") {
		if name, _, err := cutZonePrefix(line); err == nil && name != "" && name != "UTC" && name != s.Zone {
			names = append(names, name)
		}
	}
	return names
}
