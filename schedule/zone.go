package schedule

import (
	"strings"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// zoneBytesMax bounds the name of a zone; the longest of the IANA database has 32 characters.
const zoneBytesMax = 64

// zonesKept bounds each of the two generations of cached zones; IANA has about 600 names. All names fit, so that no
// zone that is in use is decoded twice.
const zonesKept = 1024

// badZone returns the error of a timezone.
func badZone(format string, args ...any) error {
	return apierr.Errorf(apierr.InvalidTimezone, "timezone", format, args...)
}

// cutZonePrefix separates a leading CRON_TZ=Zone or TZ=Zone from an expression, and trims whitespace. Tabs become
// spaces. The zone is "" if there is no prefix.
func cutZonePrefix(text string) (zone, expr string, err error) {
	expr = strings.Trim(text, " \t")
	if strings.IndexByte(expr, '\t') >= 0 {
		expr = strings.ReplaceAll(expr, "\t", " ")
	}
	rest, found := strings.CutPrefix(expr, "CRON_TZ=")
	if !found {
		if rest, found = strings.CutPrefix(expr, "TZ="); !found {
			return "", expr, nil
		}
	}
	zone, expr, _ = strings.Cut(rest, " ")
	expr = strings.TrimLeft(expr, " ")
	if expr == "" {
		return "", "", badSchedule(`has nothing after the zone; want "CRON_TZ=Europe/Berlin 0 8 * * *"`)
	}
	if zone == "" {
		return "", "", badZone(`is missing after CRON_TZ= in the schedule; want "CRON_TZ=Europe/Berlin 0 8 * * *"`)
	}
	return zone, expr, nil
}

// mergeZones returns the zone that a field and a prefix name, "" for UTC. It is an error if they name two zones. The
// same zone in both places is accepted.
func mergeZones(field, prefix string) (string, error) {
	if field != "" && prefix != "" && field != prefix {
		return "", badZone("is %q, but the schedule says CRON_TZ=%s; want one of them", apierr.Clip(field), apierr.Clip(prefix))
	}
	if field == "" {
		field = prefix
	}
	if field == "UTC" {
		return "", nil
	}
	return field, nil
}

// load returns the zone of a name; nil means UTC, whose name is "". It caches zones, because finding one reads and
// decodes a file. Names that are not found are not cached, so that a caller cannot displace the zones in use with
// made-up ones.
func (z *Zones) load(name string) (*time.Location, error) {
	if name == "" {
		return nil, nil
	}
	if loc, ok := z.locations.get(name); ok {
		return loc, nil
	}
	if err := checkZoneName(name); err != nil {
		return nil, err
	}
	loc, err := z.find(name)
	if err != nil || loc.String() != name { // schedules are stored under the zone's own name
		return nil, z.unknown(name)
	}
	// The name may be a slice of a whole request, which the cache would keep in memory.
	name = strings.Clone(name)
	z.locations.put(name, loc)
	return loc, nil
}

// checkZoneName refuses names that cannot be zones, before they become part of a path, and names that mean something
// else on another machine. The result becomes a path below the directory of zones, so a name may not leave it.
func checkZoneName(name string) error {
	if len(name) > zoneBytesMax {
		return badZone("has %d characters; at most %d are allowed", len(name), zoneBytesMax)
	}
	first := name[0] | 0x20
	if apierr.IndexOutside(name, "_-+/") >= 0 || first < 'a' || first > 'z' || strings.Contains(name, "//") || name[len(name)-1] == '/' {
		return badZone("%q is no zone; want an IANA name such as Europe/Berlin, UTC, or Etc/GMT-2 for a fixed +02:00", apierr.Clip(name))
	}
	head, _, _ := strings.Cut(strings.ToLower(name), "/")
	switch head {
	case "local", "localtime", "posix", "posixrules", "right":
		return badZone("%q depends on the machine; want an IANA name such as Europe/Berlin", apierr.Clip(name))
	}
	return nil
}

// unknown returns the error for an unknown zone, and proposes the usual spelling if only that was wrong, or else the zone
// of a similar name. It tries two spellings, each of which costs a lookup, and only for names in error.
func (z *Zones) unknown(name string) error {
	word := true
	spelled := []byte(strings.ToLower(name))
	for i, c := range spelled {
		if word && c >= 'a' && c <= 'z' {
			spelled[i] = c - 'a' + 'A'
		}
		word = c == '/' || c == '_' || c == '-'
	}
	for _, guess := range []string{string(spelled), strings.ToUpper(name)} {
		if _, err := z.find(guess); err == nil && guess != name {
			return badZone("%q is unknown; want %s", apierr.Clip(name), guess)
		}
	}
	if guess := similarZone(name); guess != "" {
		if _, err := z.find(guess); err == nil {
			return badZone("%q is unknown; did you mean %s?", apierr.Clip(name), guess)
		}
	}
	return badZone("%q is unknown; want an IANA name such as Europe/Berlin", apierr.Clip(name))
}
