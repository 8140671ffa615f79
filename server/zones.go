package server

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/carillon-io/carillon/schedule"
)

// The timezone rules that a server can use.
const (
	TZDataEmbedded = schedule.ZonesEmbedded // those in the binary
	TZDataSystem   = schedule.ZonesSystem   // the machine's: $ZONEINFO, or where the system has them
)

// openZones selects the timezone rules that the options want.
func (o *Options) openZones() (err error) {
	switch o.TZData {
	case TZDataEmbedded:
		o.zones = schedule.EmbeddedZones()
	case TZDataSystem:
		o.zones, err = schedule.SystemZones(systemZonesVersion())
	default:
		err = fmt.Errorf("options: the zone rules %q are unknown; want %s or %s", o.TZData, TZDataEmbedded, TZDataSystem)
	}
	return err
}

// zoneDirs are where systems have their zones, in the order in which package time looks.
var zoneDirs = []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}

// systemZonesVersion returns the version of the machine's rules, "" if it is not written beside them.
func systemZonesVersion() string {
	dirs := zoneDirs
	if dir := os.Getenv("ZONEINFO"); dir != "" {
		dirs = []string{dir}
	}
	for _, dir := range dirs {
		for _, name := range []string{"tzdata.zi", "+VERSION"} {
			if v := zonesVersionIn(filepath.Join(dir, name)); v != "" {
				return v
			}
		}
		if _, err := os.Stat(dir); err == nil {
			return "" // these zones are in use
		}
	}
	return ""
}

// zonesVersionIn returns the version that the first line of a file names: "# version 2025c", or 2025c alone.
func zonesVersionIn(path string) string {
	f, err := os.Open(path) //nolint:gosec // the machine's own zones
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(f)
	if !lines.Scan() {
		return ""
	}
	version := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "# version ")
	if len(version) < 5 || len(version) > 16 || strings.ContainsAny(version, " \t#") {
		return ""
	}
	return version
}
