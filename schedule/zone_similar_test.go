package schedule

import (
	"strings"
	"testing"
	"time"
)

// TestSimilarZones: the error for an unknown zone proposes the one that is meant, and nothing for a name unlike all.
func TestSimilarZones(t *testing.T) {
	for name, want := range map[string]string{
		"Europe/Berln": "did you mean Europe/Berlin?", "Berlin": "did you mean Europe/Berlin?", "europe/berlin": "want Europe/Berlin",
		"Germany/Berlin": "did you mean Europe/Berlin?", "America/NewYork": "did you mean America/New_York?", "US/Pacfic": "did you mean US/Pacific?",
		"Asia/Tokio": "did you mean Asia/Tokyo?", "Mars/Olympus": "want an IANA name", "x": "want an IANA name", strings.Repeat("E", zoneBytesMax): "want an IANA name",
	} {
		if _, err := EmbeddedZones().Location(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	other := NewZones("a source with one zone", "", func(string) (*time.Location, error) { return nil, errNoZone })
	if _, err := other.Location("Berlin"); err == nil || strings.Contains(err.Error(), "did you mean") {
		t.Errorf("a zone that the source does not have is proposed: %v", err)
	}
}
