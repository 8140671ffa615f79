package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/apierr"
)

// TestPutManyOfOneName: items of one name are settled in their order, each at the version after the one before,
// in a few commits; one that is refused changes nothing for those behind it.
func TestPutManyOfOneName(t *testing.T) {
	const items = 1000
	log := &memLog{}
	e, _, stop := startEngine(t, log, 0)
	defer func() { _ = stop() }()
	put := func(first uint32, refused int) {
		var list []PutItem
		for i := range items {
			def := oneShot("same", time.Hour)
			def.Description = fmt.Sprint(first, i)
			p, err := e.prepare(def)
			if err != nil {
				t.Fatal(err)
			}
			if i == refused {
				other := uint32(7)
				p.IfVersion = &other
			}
			list = append(list, PutItem{Put: &Put{proposal: p}})
		}
		version := first
		for i, r := range e.PutMany(t.Context(), list) {
			switch {
			case i == refused && (r.Err == nil || apierr.From(r.Err).Code != apierr.VersionConflict):
				t.Fatalf("item %d: version %d, %v; want a conflict", i, r.Version, r.Err)
			case i == refused:
				continue
			case r.Err != nil || r.Version != version:
				t.Fatalf("item %d: version %d, %v; want %d", i, r.Version, r.Err, version)
			}
			version++
		}
		v, err := e.Get(t.Context(), "default", "same")
		if want := fmt.Sprint(first, items-1); err != nil || v.Def.Description != want || v.Version != version-1 {
			t.Fatalf("the job is %q at version %d, %v; want %q", v.Def.Description, v.Version, err, want)
		}
	}
	before := e.Status().LSN
	put(1, 500)
	put(items, 0)
	if commits := e.Status().LSN - before; commits > 40 {
		t.Errorf("%d items took %d commits, want at most 40", 2*items, commits)
	}
}
