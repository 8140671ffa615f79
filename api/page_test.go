package api

import (
	"errors"
	"testing"
)

// TestFill reads lists of items of ten bytes, three at a time, and counts what is read.
func TestFill(t *testing.T) {
	fault := errors.New("fault")
	for _, c := range []struct {
		name               string
		have, limit, bytes int // bytes: the most of a page
		short              int // a read that returns so many looked no further; 0: none
		want, reads        int
		more               bool
	}{
		{"all of it", 7, 100, 1000, 0, 7, 3, false},
		{"the limit", 50, 7, 1000, 0, 7, 3, true},
		{"the size", 50, 50, 55, 0, 6, 2, true},
		{"a search that gave up", 50, 50, 1000, 1, 1, 1, true},
		{"nothing", 0, 10, 1000, 0, 0, 1, false},
	} {
		read, reads := 0, 0
		next := func(n int) ([]int, bool, error) {
			reads++
			if n > 3 {
				t.Errorf("%s: asks for %d at a time", c.name, n)
			}
			n = min(n, c.have-read)
			if c.short > 0 {
				n = c.short
			}
			read += n
			return make([]int, n), read < c.have, nil
		}
		list, more, err := fill(c.limit, 3, c.bytes, next, func(*int) int { return 10 })
		if err != nil || len(list) != c.want || more != c.more || reads != c.reads {
			t.Errorf("%s: %d items, more %v, %d reads, %v", c.name, len(list), more, reads, err)
		}
	}
	if _, _, err := fill(1, 1, 1, func(int) ([]int, bool, error) { return nil, true, fault }, func(*int) int { return 1 }); !errors.Is(err, fault) {
		t.Errorf("a read that fails: %v", err)
	}
}
