package schedule

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// The rules of timezones are in the binary, so that a job has the same instants on every node, whatever is installed
// there. They are those that come with Go, which takes them from the IANA database, which is in the public domain. The
// archive holds what that of the toolchain does, which a test checks. It is compressed as a whole and not file by file,
// because zones are much alike: that makes the binary 330 KB smaller than the toolchain's would.
//
//go:generate go test -run TestEmbeddedZonesAreTheToolchains -zones.update
//go:embed zoneinfo.zip.gz
var zoneinfo string

// zoneinfoBytesMax bounds the archive when it is unpacked; it has about 400 KB.
const zoneinfoBytesMax = 4 << 20

// embeddedVersion is the release of the IANA database from which zoneinfo.zip.gz was made. The status shows it, so
// that an operator can compare it with that of the machine. A test compares it with the toolchain.
const embeddedVersion = "2025c"

// zoneBytesOfFile bounds the data of one zone; the longest has about 3,600 bytes.
const zoneBytesOfFile = 64 << 10

// embeddedZones is one for the process, so that all engines in it share the caches.
var embeddedZones = NewZones(ZonesEmbedded, embeddedVersion, findEmbedded)

// EmbeddedZones returns the rules of timezones that are in the binary.
func EmbeddedZones() *Zones { return embeddedZones }

// For schedules, load replaces it with an error that proposes a name.
var errNoZone = errors.New("schedule: no such zone")

// findEmbedded returns a zone by its exact name. It does not fall back to the machine's rules: a job would then
// differ between nodes.
func findEmbedded(name string) (*time.Location, error) {
	data, err := EmbeddedZoneData(name)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(name, data)
}

// EmbeddedZoneData returns the rules of a zone that are in the binary, in the form of a TZif file. The caller owns
// the slice.
func EmbeddedZoneData(name string) ([]byte, error) {
	f := zoneFiles()[name]
	if f == nil {
		return nil, errNoZone
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, zoneBytesOfFile))
	return data, errors.Join(err, r.Close())
}

// ZoneNames returns the names of the zones that are in the binary, in order. The caller owns the slice.
func ZoneNames() []string { return slices.Sorted(maps.Keys(zoneFiles())) }

// unpackZones returns the embedded archive.
func unpackZones() ([]byte, error) {
	r, err := gzip.NewReader(strings.NewReader(zoneinfo))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, zoneinfoBytesMax))
}

// zoneFiles returns the files of the archive by the names of their zones. The archive is unpacked at the first use, which
// takes some milliseconds, and stays in memory.
var zoneFiles = sync.OnceValue(func() map[string]*zip.File {
	var r *zip.Reader
	archive, err := unpackZones()
	if err == nil {
		r, err = zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	}
	if err != nil {
		panic("schedule: zoneinfo.zip.gz: " + err.Error()) // a test reads all of it
	}
	files := make(map[string]*zip.File, len(r.File))
	for _, f := range r.File {
		files[f.Name] = f
	}
	return files
})

// SystemZones returns the machine's rules of timezones. version is their version if the caller knows it, otherwise
// "". The rules are in the directory or archive that the environment variable ZONEINFO names, or where the system has
// them. It returns an error on a machine without any. Three zones are tried, because a machine with a minimal
// installation may lack one.
func SystemZones(version string) (*Zones, error) {
	z := NewZones(ZonesSystem, version, time.LoadLocation)
	for _, name := range []string{"Europe/London", "America/New_York", "Asia/Tokyo"} {
		if _, err := z.find(name); err == nil {
			return z, nil
		}
	}
	return nil, errors.New("this machine has no rules of timezones; install its tzdata, or go by the embedded ones")
}
