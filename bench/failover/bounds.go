package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bound is what one round of a scenario may cost at most. A more specific bound replaces a more general one; see
// boundOf.
type bound struct {
	scenario string // "" is every one that has no bound of its own for the figure
	topology string // "" is both
	figure   figure
	// in nanoseconds, or a count, as the figure is; the bound itself is still kept
	most int64

	// known says why the product misses it today. Such a bound is printed, and judged only with --judge-all.
	known string
}

// unbounded is the most of a bound that is lifted. Such a bound is not printed either.
const unbounded = math.MaxInt64

// boundsWith returns the bounds with some of them replaced. What is replaced is judged. It replaces the bounds of both
// topologies, so that one flag is enough to lift what a machine cannot keep.
func boundsWith(overrides []string) ([]bound, error) {
	all := slices.Clone(bounds)
	for _, text := range overrides {
		b, lifted, err := parseBound(text)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(o bound) bool { return o.scenario == b.scenario && o.figure == b.figure })
		if lifted {
			b.most = unbounded
		}
		all = append(all, b)
	}
	return all, nil
}

// parseBound reads SCENARIO/FIGURE=MOST, where MOST may be none.
func parseBound(text string) (b bound, lifted bool, err error) {
	what, most, ok := strings.Cut(text, "=")
	name, f, ok2 := strings.Cut(what, "/")
	b.scenario, b.figure = name, figure(strings.ReplaceAll(f, "-", " "))
	switch {
	case !ok || !ok2:
		return b, false, fmt.Errorf("--bound %q; want SCENARIO/FIGURE=MOST, such as kill9-leader/first-launch=2s", text)
	case !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.name == name }):
		return b, false, fmt.Errorf("--bound %q: scenario %q is unknown", text, name)
	case !slices.Contains(figures, b.figure):
		return b, false, fmt.Errorf("--bound %q: figure %q is unknown; want one of %q", text, f, figures)
	case most == "none":
		return b, true, nil
	case b.figure.isCount():
		b.most, err = strconv.ParseInt(most, 10, 64)
	default:
		var d time.Duration
		d, err = time.ParseDuration(most)
		b.most = int64(d)
	}
	if err != nil {
		err = fmt.Errorf("--bound %q: %w", text, err)
	}
	return b, false, err
}

// addBound notes a bound of the command line. It is parsed only when the whole command line is known, so it never
// fails here.
func (o *options) addBound(text string) error {
	o.overrides = append(o.overrides, text)
	return nil
}

// verdict is what became of a bound over the rounds of its scenario. It is kept only if every round kept the bound: a
// promise that holds on average is none.
type verdict struct {
	bound
	// rounds counts those of the scenario, also those without the figure.
	rounds int
	// largest value of the figure; 0 if no round has it
	worst int64
	never int // rounds without the figure: what it measures did not come about
}

// kept tells whether each round kept the bound. A round without the figure misses it, however good the others are.
func (v verdict) kept() bool { return v.never == 0 && v.worst <= v.most }

// judge compares rounds with the bounds, in the order of the scenarios.
func judge(rounds []round, topology string, bounds []bound) []verdict {
	var out []verdict
	for _, s := range scenarios {
		of := slices.DeleteFunc(slices.Clone(rounds), func(r round) bool { return r.scenario != s.name })
		for _, f := range figures {
			if b, ok := boundOf(bounds, s.name, topology, f); ok && b.most != unbounded && len(of) > 0 && (!f.ofShards() || len(of[0].gaps) > 0) {
				out = append(out, verdictOf(b, of))
			}
		}
	}
	return out
}

// boundOf returns the bound that fits best. A scenario counts more than a topology.
func boundOf(bounds []bound, scenario, topology string, f figure) (best bound, found bool) {
	rank := -1
	for _, b := range bounds {
		fits := b.figure == f && (b.scenario == scenario || b.scenario == "") && (b.topology == topology || b.topology == "")
		score := 2*min(len(b.scenario), 1) + min(len(b.topology), 1)
		if fits && score > rank {
			best, found, rank = b, true, score
		}
	}
	best.scenario = scenario
	return best, found
}

// verdictOf judges a bound. Only the first launch of a successor and the first put can fail to come about.
func verdictOf(b bound, rounds []round) verdict {
	v := verdict{bound: b, rounds: len(rounds)}
	for _, r := range rounds {
		value, ok := r.figures[b.figure]
		if !ok && (b.figure == firstLaunch || b.figure == firstPut) {
			v.never++
		}
		v.worst = max(v.worst, value)
	}
	return v
}
