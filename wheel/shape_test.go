package wheel

import (
	"fmt"
	"math"
	"testing"
)

// edges are the ticks around each power of two, in order.
func edges() []Tick {
	ticks := []Tick{0}
	for bit := range tickBits {
		for _, around := range []Tick{-1, 0, 1} {
			ticks = append(ticks, Tick(1)<<bit+around)
		}
	}
	return append(ticks, math.MaxInt64-1, math.MaxInt64)
}

// lowestLevel is levelFor by its definition, found by trying.
func lowestLevel(s *shape, now, at Tick) int {
	for level := 0; ; level++ {
		if s.slotNumber(level+1, at)-s.slotNumber(level+1, now) <= 1 {
			return level
		}
	}
}

func TestLevelForAtEdges(t *testing.T) {
	for slotBits := uint(1); slotBits <= 8; slotBits++ {
		s := newShape(slotBits)
		for _, now := range edges() {
			for _, at := range edges() {
				if at < now {
					continue
				}
				if got, want := s.levelFor(now, at), lowestLevel(&s, now, at); got != want || got >= s.levels {
					t.Fatalf("slotBits=%d: levelFor(%d, %d) = %d, want %d of %d", slotBits, now, at, got, want, s.levels)
				}
			}
		}
	}
}

func TestLevelForTable(t *testing.T) {
	s := newShape(8)
	for _, c := range []struct {
		now, at Tick
		level   int
	}{
		{0, 0, 0},
		{0, 511, 0},             // the last tick of the next ring
		{0, 512, 1},             // one further
		{255, 511, 0},           // the next ring is the same seen from the end of this one
		{255, 512, 1},           //
		{256, 512, 0},           // and moves on with its block
		{0, 2<<16 - 1, 1},       //
		{0, 2 << 16, 2},         //
		{0, 1 << 62, 7},         //
		{0, 253402300799999, 5}, // the end of the year 9999 in milliseconds
	} {
		c.at = max(c.at, c.now)
		if got := s.levelFor(c.now, c.at); got != c.level {
			t.Errorf("levelFor(%d, %d) = %d, want %d", c.now, c.at, got, c.level)
		}
	}
}

func TestSlotForAtEdges(t *testing.T) {
	for slotBits := uint(1); slotBits <= 8; slotBits++ {
		s := newShape(slotBits)
		for level := range s.levels {
			for _, at := range edges() {
				index := s.slotFor(level, at)
				if s.levelOfSlot(index) != level || index >= uint(s.levels)*s.ringSlots() {
					t.Fatalf("slotBits=%d: slotFor(%d, %d) = %d, which is not on that level", slotBits, level, at, index)
				}
				number := s.slotNumber(level, at)
				if first := s.start(level, number); first > at || s.slotNumber(level, first) != number {
					t.Fatalf("slotBits=%d: slot %d of level %d starts at %d, after %d", slotBits, number, level, first, at)
				}
			}
		}
	}
}

// Two blocks that follow one another use every position of the two rings once.
func TestPositionsOfTwoBlocks(t *testing.T) {
	for slotBits := uint(1); slotBits <= 8; slotBits++ {
		s := newShape(slotBits)
		for block := range uint64(4) {
			seen := map[uint]bool{}
			for slot := range uint64(s.ringSlots()) {
				seen[s.position(block<<slotBits+slot)] = true
			}
			if len(seen) != int(s.ringSlots()) {
				t.Fatalf("slotBits=%d: blocks %d and %d share positions", slotBits, block, block+1)
			}
		}
	}
}

func TestLevelsReachEveryTick(t *testing.T) {
	for slotBits, levels := range map[uint]int{1: 63, 2: 32, 3: 21, 4: 16, 8: 8} {
		t.Run(fmt.Sprintf("slotBits=%d", slotBits), func(t *testing.T) {
			if s := newShape(slotBits); s.levels != levels {
				t.Errorf("%d levels, want %d", s.levels, levels)
			}
		})
	}
}
