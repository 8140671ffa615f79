package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// wheelCmd compares the timing wheel with other structures that hold timers in memory.
type wheelCmd struct {
	Counts []int         `help:"Numbers of pending timers." default:"1000000,10000000"`
	Span   time.Duration `help:"The timers are due over this long." default:"1h"`
	Repeat int           `help:"Rounds of each; 0 is 3 for up to a million timers and 1 for more." default:"0"`
	Seed   uint64        `help:"Seed of the deadlines and of the timers picked." default:"1"`
	Only   []string      `help:"Contestants: ${enum}; all if left out." enum:"carillon,heap,btree,thw,go" placeholder:"NAME"`
}

// Bounds of the command line.
const (
	timersMin      = 1_000
	timersMax      = 100_000_000
	timerSpanMin   = time.Minute
	timerSpanMax   = 24 * time.Hour
	timerRoundsMax = 100
)

// Validate refuses sizes that make no sense.
func (c *wheelCmd) Validate() error {
	for _, n := range c.Counts {
		if n < timersMin || n > timersMax {
			return fmt.Errorf("--counts has %d; want %d to %d", n, timersMin, timersMax)
		}
	}
	if c.Span < timerSpanMin || c.Span > timerSpanMax || c.Span%time.Second != 0 {
		return fmt.Errorf("--span is %s; want whole seconds from %s to %s", c.Span, timerSpanMin, timerSpanMax)
	}
	if c.Repeat < 0 || c.Repeat > timerRoundsMax {
		return fmt.Errorf("--repeat is %d; want 0 to %d", c.Repeat, timerRoundsMax)
	}
	return nil
}

// Run measures every contestant at every size. It refuses sizes that do not fit in memory before it
// begins. Ctrl-C ends it after the round of the moment; what was measured by then is reported.
func (c *wheelCmd) Run(r *report) error {
	contestants := c.contestants()
	for _, n := range c.Counts {
		if err := refuseTooMany(n, contestants); err != nil {
			return fmt.Errorf("wheel: %w", err)
		}
	}
	for _, n := range c.Counts {
		load := newTimerLoad(n, timerLead, c.Span.Milliseconds(), c.Seed)
		for i := range contestants {
			if r.interrupted() {
				return nil
			}
			r.add(c.measure(r, &contestants[i], load))
		}
	}
	return nil
}

// contestants returns those that were asked for, ours first.
func (c *wheelCmd) contestants() []contestant {
	all := allContestants()
	if len(c.Only) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(one contestant) bool { return !slices.Contains(c.Only, one.name) })
}

// measure takes all rounds of one contestant at one size.
func (c *wheelCmd) measure(r *report, one *contestant, load *timerLoad) result {
	rounds := cmp.Or(c.Repeat, defaultRounds(load.n))
	res := result{
		Name:    fmt.Sprintf("wheel_%s_%d", one.name, load.n),
		Setting: fmt.Sprintf("%s; %d timers over %s", one.about, load.n, c.Span),
	}
	var taken [][]figure
	for i := range rounds {
		if i > 0 && r.interrupted() {
			break
		}
		r.say("wheel: %d timers, %s, round %d of %d", load.n, one.name, i+1, rounds)
		figures, broken := one.round(load)
		taken = append(taken, figures)
		res.Broken = append(res.Broken, broken...)
	}
	res.Figures = spreadOf(taken)
	if one.step > 0 {
		res.notes("worst steps include the system taking the processor away; the loop that does nothing is over sooner, and meets that less often")
	}
	if one.step == 0 && !r.interrupted() {
		r.say("wheel: %s, in real time", one.name)
		figures, broken := runRealTime(r.ctx, realTimeOf(load.n), c.Seed)
		res.Figures = append(res.Figures, figures...)
		res.Broken = append(res.Broken, broken...)
	}
	return res
}

func defaultRounds(n int) int {
	if n <= 1_000_000 {
		return 3
	}
	return 1
}

// spreadOf makes one list of the figures of several rounds, which all have the same keys: the median
// of each under its own key, and the extremes beside it unless all are the same.
func spreadOf(rounds [][]figure) []figure {
	var all []figure
	for i, f := range rounds[0] {
		values := make([]float64, len(rounds))
		for j, round := range rounds {
			values[j] = round[i].Value
		}
		slices.Sort(values)
		f.Value = values[(len(values)-1)/2]
		all = append(all, f)
		if values[0] != values[len(values)-1] {
			all = append(all,
				figure{"min_" + f.Key, f.Label + ", min", values[0], f.Unit},
				figure{"max_" + f.Key, f.Label + ", max", values[len(values)-1], f.Unit})
		}
	}
	return all
}
