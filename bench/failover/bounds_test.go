package main

import (
	"strings"
	"testing"
	"time"
)

// TestJudge lets the most particular bound count, and tells a bound that is missed from one that is known to
// be, and from a figure that never came about.
func TestJudge(t *testing.T) {
	table := []bound{
		{"", "", duplicates, 1, ""},
		{"handover", "", duplicates, 5, ""},
		{"handover", outside, duplicates, 0, "because"},
		{"", "", firstLaunch, int64(time.Second), ""},
	}
	rounds := []round{
		{scenario: "handover", figures: map[figure]int64{duplicates: 2, firstLaunch: int64(time.Second)}},
		{scenario: "handover", figures: map[figure]int64{duplicates: 4}},
		{scenario: "junk", figures: map[figure]int64{duplicates: 1}},
	}
	for _, tt := range []struct {
		topology string
		all      bool
		want     []string // of each verdict
		missed   int
	}{
		{embedded, false, []string{"MISSED", "kept", "MISSED", "kept"}, 2},
		{outside, false, []string{"MISSED", "KNOWN, NOT JUDGED: because", "MISSED", "kept"}, 2},
		{outside, true, []string{"MISSED", "MISSED", "MISSED", "kept"}, 3},
	} {
		var out strings.Builder
		verdicts := judge(rounds, tt.topology, table)
		missed, err := printVerdicts(&out, verdicts, tt.all)
		if err != nil || missed != tt.missed {
			t.Errorf("%s: %d are missed, %v; want %d:\n%s", tt.topology, missed, err, tt.missed, &out)
		}
		var texts []string
		for _, v := range verdicts {
			texts = append(texts, v.text(tt.all))
		}
		if strings.Join(texts, "; ") != strings.Join(tt.want, "; ") {
			t.Errorf("%s: %q, want %q", tt.topology, texts, tt.want)
		}
	}
}

// TestBoundsWith replaces a bound that is known to be missed by one that is judged, and lifts another.
func TestBoundsWith(t *testing.T) {
	table, err := boundsWith([]string{"junk/first-put=70ms", "junk/duplicates=none", "junk/epochs=3"})
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := boundOf(table, "junk", embedded, firstPut); !ok || b.most != int64(70*time.Millisecond) || b.known != "" {
		t.Errorf("%+v", b)
	}
	if b, ok := boundOf(table, "junk", embedded, epochs); !ok || b.most != 3 {
		t.Errorf("%+v", b)
	}
	if b, ok := boundOf(table, "junk", embedded, duplicates); ok && b.most != unbounded {
		t.Errorf("%+v is not lifted", b)
	}
}

// TestBoundsAreOfScenarios looks for names in the table that no scenario, topology or figure has.
func TestBoundsAreOfScenarios(t *testing.T) {
	for _, b := range bounds {
		if b.topology != "" && b.topology != embedded && b.topology != outside {
			t.Errorf("%+v: the topology is unknown", b)
		}
		name := b.scenario
		if name == "" {
			name = "junk"
		}
		if _, err := planOf(name, &options{topology: b.topology, shards: 1, nodes: nodesMin}); err != nil && b.topology != "" {
			t.Errorf("%+v: %v", b, err)
		}
		if _, ok := boundOf([]bound{b}, name, b.topology, b.figure); !ok {
			t.Errorf("%+v is of nothing", b)
		}
	}
}
