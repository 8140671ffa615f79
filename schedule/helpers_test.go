package schedule

import (
	"bufio"
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/testkit"
)

var (
	scheduleSeed = flag.Uint64("schedule.seed", 0, "seed of the random schedule tests; 0 picks one")
	scheduleFull = flag.Bool("schedule.full", false, "check every change of every zone, not a sample")
)

// seeded returns a random source, and says on failure how to get the same one again.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *scheduleSeed
	if seed == 0 {
		seed = testkit.Seed(t)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with: go test ./schedule -run '^%s$' -schedule.full=%t -schedule.seed=%d", t.Name(), *scheduleFull, seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

func mustSchedule(t testing.TB, expr, zone string) *Schedule {
	t.Helper()
	s, err := Parse(Spec{Expr: expr, Zone: zone})
	if err != nil {
		t.Fatalf("ParseSchedule(%q, %q): %v", expr, zone, err)
	}
	return s
}

// rfc3339 reads an instant.
func rfc3339(t testing.TB, text string) instant.Millis {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return instant.Of(at)
}

// zoneNames returns the names of the IANA database, as far as this build knows them.
func zoneNames(t testing.TB) []string {
	t.Helper()
	f, err := os.Open("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if _, err := EmbeddedZones().Location(lines.Text()); err == nil {
			names = append(names, lines.Text())
		}
	}
	if len(names) < 400 {
		t.Fatalf("only %d zones are known", len(names))
	}
	return names
}
