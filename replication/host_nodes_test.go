package replication

import (
	"fmt"
	"testing"
	"time"
)

// TestUsualElsewhere: what the leaders of the other shards tell is added up; a leader that is silent, or was replaced, tells nothing.
func TestUsualElsewhere(t *testing.T) {
	const now = time.Hour
	led := func(shard uint32, epoch, usual uint64) shardBeat {
		return shardBeat{Shard: shard, Role: RoleLeader, Epoch: epoch, Usual: usual}
	}
	h := &Host{opts: Options{Shards: 4, Boot: func() time.Duration { return now }}, nodes: map[string]heardNode{
		"a": {seen: now, beat: hostBeat{Node: "a", Shards: []shardBeat{led(0, 3, 100), led(1, 3, 20)}}},
		"b": {seen: now, beat: hostBeat{Node: "b", Shards: []shardBeat{led(1, 4, 7), {Shard: 0, Role: RoleStandby, Epoch: 3, Usual: 50}}}},
		"c": {seen: now - beatFresh, beat: hostBeat{Node: "c", Shards: []shardBeat{led(2, 9, 1000)}}},
	}}
	for shard, want := range []string{"7 1", "100 1", "107 2", "107 2"} {
		if got := fmt.Sprint(h.UsualElsewhere(uint32(shard))); got != want {
			t.Errorf("but for shard %d: %s; want %s", shard, got, want)
		}
	}
}
