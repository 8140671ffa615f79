package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "carillon")
	if err := os.WriteFile(binary, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   string
		rounds int
		want   string // in the error; "" is none
	}{
		{"--scenario kill9-leader,handover,kill9-leader --seed 7", 3, ""},
		{"--scenario handover --rounds 5", 5, ""},
		{"--topology outside --scenario partition-in", 1, ""},
		{"--scenario partition-in", 1, ""},
		{"--scenario disk-full", 0, "not for the topology embedded"},
		{"--topology guarded", 1, ""},
		{"--topology guarded --scenario kill9-leader", 0, "not for the topology guarded"},
		{"--network loop", 0, "want namespaces, proxy or auto"},
		{"--patience 1ms", 0, "want 1s to"},
		{"--scenario handover --bound handover/first-launch=2s --bound handover/duplicates=none --judge-all", 1, ""},
		{"--bound handover=2s", 0, "want SCENARIO/FIGURE=MOST"},
		{"--bound handovers/first-launch=2s", 0, "scenario"},
		{"--bound handover/second-launch=2s", 0, "want one of"},
		{"--bound handover/duplicates=2s", 0, "invalid syntax"},
		{"--scenario kill-everybody", 0, "is unknown"},
		{"--scenario ,", 0, "is unknown"},
		{"--topology ring", 0, "want embedded, outside or guarded"},
		{"--rounds -1", 0, "want 0 to"},
		{"--clients 0", 0, "want 1 to"},
		{"-o xml", 0, "want table or json"},
		{"--binary /nowhere/at/all", 0, "make build"},
		{"--binary " + filepath.Dir(binary), 0, "is a directory"},
		{"--shards 4 --topology outside --scenario kill9-leader,sigstop-leader", 2, ""},
		{"--shards 4 --scenario handover,rolling-restart,partition,nats-leader", 4, ""},
		{"--shards 4 --scenario junk", 0, "not for a cluster with several shards"},
		{"--shards 4 --topology guarded", 0, "nothing for the topology guarded with 4 shards"},
		{"--shards 4 --nodes 3 --scenario nats-leader,sigstop-leader", 2, ""},
		{"--shards 4 --nodes 3 --topology outside --scenario all", 2, ""},
		{"--shards 4 --nodes 3 --scenario bucket-leader", 1, ""},
		{"--shards 4 --scenario bucket-leader", 0, "not for 2 nodes"},
		{"--shards 4 --nodes 3 --scenario kill9-leader", 0, "not for 3 nodes"},
		{"--shards 4 --nodes 4", 0, "want 2 or 3"},
		{"--nodes 3", 0, "with one shard want 2"},
		{"--shards 3", 0, "want a power of two"},
		{"--shards 32", 0, "from 1 to 16"},
		{"surplus", 0, "unknown argument"},
	} {
		o, err := parse(append([]string{"--binary", binary}, strings.Fields(tt.args)...), io.Discard)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.args, err)
		case tt.want == "" && (o.rounds != tt.rounds || o.seed == 0):
			t.Errorf("%s: %d rounds, seed %d", tt.args, o.rounds, o.seed)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v, want %q", tt.args, err, tt.want)
		}
	}
}

// TestAll takes every scenario that a topology has, each once, and repeats it with the command that is shown.
func TestAll(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "carillon")
	if err := os.WriteFile(binary, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, topology := range []string{embedded, outside, guarded} {
		o, err := parse([]string{"--binary", binary, "--topology", topology, "--scenario", "all", "--bound", "junk/put-gap=1s"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range o.plan {
			known[s.name] = true
		}
		if three, err := parse([]string{"--binary", binary, "--topology", topology, "--shards", "4", "--nodes", "3", "--scenario", "all"}, io.Discard); err == nil {
			for _, s := range three.plan {
				known[s.name] = true
			}
		}
		again, err := parse(strings.Fields(o.command())[3:], io.Discard)
		if err != nil || again.command() != o.command() {
			t.Errorf("%s is repeated as %s, %v", o.command(), again.command(), err)
		}
	}
	if len(known) != len(scenarios) {
		t.Errorf("%d of %d scenarios are known; two have one name, or one fits no topology", len(known), len(scenarios))
	}
}
