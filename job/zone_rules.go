package job

import (
	"encoding/binary"
	"hash/fnv"
	"strings"
	"time"
)

// Where the rules of timezones come from.
const (
	ZonesEmbedded = "embedded" // in the binary, the same on every machine
	ZonesSystem   = "system"   // the machine's own
)

// ZonesUnknown is the version of rules that have none that is known.
const ZonesUnknown = "unknown"

// Zones are the rules of timezones: what a name such as Europe/Berlin means. They are an input of each
// schedule that names a zone, and do not change while a process runs. Safe for concurrent use;
// [NewZones] makes them, and the zero value has none.
type Zones struct {
	source, version string
	find            func(name string) (*time.Location, error)

	locations *intern[string, *time.Location]
	schedules *intern[Spec, *Schedule]
	digests   *intern[string, uint64]
}

// NewZones returns the rules of a source at a version such as 2025c, "" if that is not known. find
// returns the zone of an IANA name other than UTC, under that very name, or an error if there is none; it is called from
// several goroutines, and what it returns is remembered.
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

// Location returns the zone of a name; "" and "UTC" are UTC. The error is an [*Error].
func (z *Zones) Location(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	return z.load(name)
}

// digestUntil ends what a digest is over. The tables of zones end before it, and what comes after them
// is the same every year.
var digestUntil = time.Date(2101, 1, 1, 0, 0, 0, 0, time.UTC).Unix()

// Digest returns a number for what the clock of a zone shows since 1970: two rules with the same number
// give the same instants. How zones are written in files, and how they abbreviate their names, is not in it.
// A zone that is unknown has 0.
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

func digestOf(loc *time.Location) uint64 {
	h := fnv.New64a()
	offset := int64(endless) // none has it
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

// Zones returns the names of the zones that a schedule is read in, but for UTC. The slice is the
// caller's; without zones it is nil.
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
