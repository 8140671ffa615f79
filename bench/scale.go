package bench

import (
	"fmt"
	"slices"
	"time"
)

// scaleCmd measures the same jitter with more and more armed jobs. If the lateness stays the same, the cost of a tick
// does not depend on the number of jobs.
type scaleCmd struct {
	Armed []int         `help:"Jobs armed, rising." default:"10000,100000,1000000"`
	Rate  int           `help:"One-shots a second." default:"1600"`
	For   time.Duration `help:"Length of each window." default:"20s"`
	SVG   string        `name:"svg" help:"Draw the percentiles into a file as well." type:"path" placeholder:"FILE"`
}

// Validate refuses sizes that make no sense.
func (c *scaleCmd) Validate() error {
	// They must rise, because the series ends at the first number that breaks a promise.
	if len(c.Armed) == 0 || !slices.IsSorted(c.Armed) {
		return fmt.Errorf("--armed is %v; want numbers that rise", c.Armed)
	}
	for _, armed := range c.Armed {
		if err := c.at(armed).Validate(); err != nil {
			return err
		}
	}
	return nil
}

// at returns the workload beside a number of armed jobs. Everything else is the same, so the difference is theirs.
func (c *scaleCmd) at(armed int) *jitterCmd {
	return &jitterCmd{Rate: c.Rate, For: c.For, Armed: armed, Payload: defaultJitter().Payload}
}

func (c *scaleCmd) measure(s *stand) []*result {
	var results []*result
	chart := newScaleChart(c.Rate)
	for _, armed := range c.Armed {
		r, t := c.at(armed).run(s)
		r.Name = fmt.Sprintf("jitter_beside_%d", armed)
		results = append(results, s.show(r))
		if len(r.Broken) > 0 || s.ctx.Err() != nil {
			break
		}
		// Only results without a broken promise are drawn.
		addToScale(&chart, armed, t.all)
	}
	if c.SVG != "" && len(results) > 0 {
		if err := drawInto(c.SVG, chart); err != nil {
			results[0].breaks("draw: %v", err)
		}
	}
	return results
}
