package schedule

import (
	"slices"
	"strings"
	"sync"

	"github.com/carillon-io/carillon/apierr"
)

// zoneIndex has the names of the embedded zones in lower case, for names in error.
type zoneIndex struct {
	spelled map[string]string // by name
	cities  map[string]string // by the last part of the name; of several the first in the order of names
	near    map[byte][]string // by first letter
}

// knownZones returns the names of the embedded zones. They are collected at the first use.
var knownZones = sync.OnceValue(func() zoneIndex {
	known := zoneIndex{spelled: make(map[string]string), cities: make(map[string]string), near: make(map[byte][]string)}
	for name := range zoneFiles() {
		lower := strings.ToLower(name)
		city := lower[strings.LastIndexByte(lower, '/')+1:]
		known.spelled[lower] = name
		known.near[lower[0]] = append(known.near[lower[0]], lower)
		if other := known.cities[city]; other == "" || name < other {
			known.cities[city] = name
		}
	}
	for _, names := range known.near {
		slices.Sort(names)
	}
	return known
})

// similarZone returns the zone that an unknown name may mean, or "": that of a city without its continent, or one whose
// name differs by two letters at most. It compares names with the same first letter only, so that a request with many bad
// names costs little.
func similarZone(name string) string {
	known, lower := knownZones(), strings.ToLower(name)
	if zone := known.cities[lower[strings.LastIndexByte(lower, '/')+1:]]; zone != "" {
		return zone
	}
	return known.spelled[apierr.Nearest(lower, known.near[lower[0]])]
}
