package history

import (
	"fmt"
	"testing"
	"time"
)

// TestShardOf compares slots with those that docs/format/store.md gives as examples.
func TestShardOf(t *testing.T) {
	for name, slot := range map[string]int{"a": 0xc0, "b": 0xe2, "daily-report": 0x92} {
		for _, shards := range []int{0, 1, 2, 4, 256} {
			if got, want := ShardOf(name, shards), slot*shards/256; got != want {
				t.Errorf("%s is of shard %d of %d, want %d", name, got, shards, want)
			}
		}
	}
}

// twoShards tells of a cluster of two shards, each led by a node of its own, one of which is killed at 5.0 s. The shard of
// tick is taken over at LSN 20; that of the job other stays with its leader, and its log has the same LSNs.
func twoShards() *story {
	s := cleanCluster()
	s.h.Shards = 2
	of := ShardOf("tick", 2)
	other := 1 - of
	s.h.Faults[0].Shards = []int{of}
	for i := range s.h.Starts {
		s.h.Starts[i].Shard = of
	}
	s.h.Starts = append(s.h.Starts, Start{Ready: ms(0), Epoch: 1, Shard: other})
	name := inShard(other)
	mark := s.put(name, 95, 1, Spec{Kind: every, Step: time.Second, Target: "request"})
	for due := 700; due <= 10700; due += 1000 {
		s.run(name, due, "succeeded")
		s.deliver(name, "request", mark, due, due+1).Fence = uint64(due / 100)
	}
	s.final(name, mark, "active", 1)
	ofTick, ofOther := make(map[string]bool), make(map[string]bool)
	for _, d := range s.h.Deliveries {
		if ShardOf(d.Job, 2) == of {
			ofTick[d.RunID] = true
		} else {
			ofOther[d.RunID] = true
		}
	}
	s.h.Final.Logs = nil
	for _, node := range []string{"n1", "n2"} {
		s.h.Final.Logs = append(s.h.Final.Logs,
			Log{Node: node, Shard: of, Commits: commits(1, 40, 20), Runs: ofTick},
			Log{Node: node, Shard: other, Commits: commits(1, 120, 999), Runs: ofOther})
	}
	return s
}

// inShard returns the name of a job of one of two shards.
func inShard(shard int) string {
	for i := 0; ; i++ {
		if name := fmt.Sprint("other-", i); ShardOf(name, 2) == shard {
			return name
		}
	}
}

// logOf returns the log of the first node that has the shard of tick, or the other shard.
func (s *story) logOf(tick bool) *Log {
	for i := range s.h.Final.Logs {
		if l := &s.h.Final.Logs[i]; (l.Shard == ShardOf("tick", 2)) == tick {
			return l
		}
	}
	panic("there is no such log")
}

// shardFaults are planted in twoShards.
var shardFaults = []fault{
	{"a run is decided by two shards", "shards", func(s *story) { s.logOf(false).Runs[runID("tick", 2600)] = true }},
	{"a run is in the log of another shard only", "accepted runs", func(s *story) {
		delete(s.logOf(true).Runs, runID("tick", 2600))
		s.logOf(false).Runs[runID("tick", 2600)] = true
	}},
	{"the nodes differ in one shard", "logs", func(s *story) { s.logOf(false).Commits[7].Hash = "other" }},
	{"a shard was hit and has no new epoch", "reigns", func(s *story) { s.h.Faults[0].Shards = nil }},
	{"a replaced leader of a shard goes on", "old reigns", func(s *story) {
		for i := range 30 {
			s.deliver("tick", "request", s.marks["tick"], 6600, 8000+i).Fence = 10
		}
	}},
	{"the log of a shard falls back", "epochs", func(s *story) {
		shard := ShardOf("tick", 2)
		s.h.Readings = []Reading{{At: ms(1), LSN: 9, Shard: shard}, {At: ms(2), LSN: 5, Shard: 1 - shard}, {At: ms(3), LSN: 8, Shard: shard}}
	}},
}
