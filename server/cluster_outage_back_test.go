package server

import (
	"fmt"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestNATSGoesBack: NATS alone loses power, and comes back without its last seconds, while the nodes run. Nothing is lost, and no
// tick is missed or decided twice: who leads writes its leases and commits again.
func TestNATSGoesBack(t *testing.T) {
	for _, shards := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d shards", shards), func(t *testing.T) {
			t.Parallel()
			o := newOutage(t)
			options := func(name string) Options {
				options := o.options(name, o.dirs[name])
				options.Shards = shards
				return options
			}
			o.startWith(options("a"))
			o.startWith(options("b"))
			o.register("before", 8)
			o.put("x")
			image := o.image()
			o.register("after", 8)
			o.lose(image)
			o.register("later", 8)
			for _, what := range []string{"before", "after", "later"} {
				testkit.Until(t, "all jobs are there", func() bool { return len(o.missing(what, 8)) == 0 })
			}
			o.eachTickOnce("x", 10)
		})
	}
}
