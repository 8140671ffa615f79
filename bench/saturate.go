package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/bench/measure"
)

// saturateCmd raises the rate until jobs arrive late. Each rate gets a new server, so that a backlog of one rate does
// not spoil the next.
type saturateCmd struct {
	Rates []int         `help:"Fires a second, rising." default:"5000,10000,20000,30000,40000,60000,80000,100000"`
	For   time.Duration `help:"Length of the window at each." default:"5s"`
	Armed int           `help:"Jobs besides, armed for a far future." default:"0"`
	Bound time.Duration `help:"How late a hundredth of the runs may be." default:"100ms"`
}

// Validate refuses sizes that make no sense.
func (c *saturateCmd) Validate() error {
	if len(c.Rates) == 0 || !slices.IsSorted(c.Rates) {
		return fmt.Errorf("--rates is %v; want rates that rise", c.Rates)
	}
	for _, rate := range c.Rates {
		if err := c.at(rate).Validate(); err != nil {
			return err
		}
	}
	return nil
}

// at returns the workload of one rate.
func (c *saturateCmd) at(rate int) *jitterCmd {
	return &jitterCmd{Rate: rate, For: c.For, Armed: c.Armed, Payload: defaultJitter().Payload}
}

func (c *saturateCmd) measure(s *stand) []*result {
	r := &result{Name: "saturate", Setting: fmt.Sprintf("one-shots at rising rates for %s each, %d more armed, until more than 1 %% are %s late", c.For, c.Armed, c.Bound)}
	results := []*result{r}
	sustained := 0
	for _, rate := range c.Rates {
		// A missing or an early run ends the workload as a broken promise, whatever the rate.
		one, t := c.at(rate).run(s)
		one.Name = fmt.Sprintf("jitter_%d", rate)
		results = append(results, s.show(one))
		if len(one.Broken) > 0 || s.ctx.Err() != nil {
			r.Broken = one.Broken
			break
		}
		// The bound is for a hundredth of the runs, so it is compared with this percentile.
		p99 := t.all.at(99_000)
		r.add(fmt.Sprintf("p99_at_%d_ms", rate), fmt.Sprintf("p99 at %s a second", measure.Number(float64(rate))), millis(p99), "ms")
		// The last rate within the bound counts as sustained.
		if p99 > c.Bound {
			break
		}
		sustained = rate
	}
	r.count("sustained", "fires a second sustained", sustained)
	s.show(r)
	return results
}
