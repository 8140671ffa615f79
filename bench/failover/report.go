package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/carillon-io/carillon/bench/history"
)

// printTable prints each round, and what the rounds of a scenario have in common. A figure that a round does not have
// is shown as a dash.
func printTable(w io.Writer, rounds []round) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "round\tscenario")
	divided := len(rounds) > 0 && len(rounds[0].gaps) > 0
	figures := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool { return f.ofShards() && !divided })
	for _, f := range figures {
		fmt.Fprintf(t, "\t%s", f)
	}
	for i, r := range rounds {
		fmt.Fprintf(t, "\n%d\t%s", i+1, r.scenario)
		for _, f := range figures {
			if v, ok := r.figures[f]; ok {
				fmt.Fprintf(t, "\t%s", f.shown(v))
			} else {
				fmt.Fprint(t, "\t-")
			}
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if divided {
		printGaps(t, rounds)
		printLost(t, rounds)
		if err := t.Flush(); err != nil {
			return err
		}
	}
	// The last table begins after a flush, so its columns have widths of their own.
	fmt.Fprintln(t, "\n\nscenario\tfigure\trounds\tmin\tmedian\tp99\tmax")
	for _, s := range spreads(rounds) {
		show := s.Figure.shown
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", s.Scenario, s.Figure, s.Rounds, show(s.Min), show(s.Median), show(s.P99), show(s.Max))
	}
	return t.Flush()
}

// printGaps prints the put gap of each shard in each round, until what was broken was mended and, after a stroke, from then
// on. A star is at the shards that the node led which the fault hit.
func printGaps(w io.Writer, rounds []round) {
	printShards(w, rounds, "put gap of", len(rounds[0].gaps), func(r *round, shard int) string {
		star := ""
		if slices.Contains(r.led, shard) {
			star = "*"
		}
		return fmt.Sprintf("%s%s/%s", putGap.shown(int64(r.gaps[shard])), star, putGap.shown(int64(r.returns[shard])))
	})
}

// printLost prints how many ticks the job of each shard has lost that lost most.
func printLost(w io.Writer, rounds []round) {
	printShards(w, rounds, "ticks missing of", len(rounds[0].lost), func(r *round, shard int) string { return fmt.Sprint(r.lost[shard]) })
}

// printShards prints a table with a line for each round and a column for each shard.
func printShards(w io.Writer, rounds []round, what string, shards int, cell func(r *round, shard int) string) {
	fmt.Fprintf(w, "\n\nround\t%s", what)
	for shard := range shards {
		fmt.Fprintf(w, "\tshard %d", shard)
	}
	for i := range rounds {
		fmt.Fprintf(w, "\n%d\t%s", i+1, rounds[i].scenario)
		for shard := range shards {
			fmt.Fprintf(w, "\t%s", cell(&rounds[i], shard))
		}
	}
}

// printVerdicts prints what became of each bound, and returns how many that count were missed.
func printVerdicts(w io.Writer, verdicts []verdict, judgeAll bool) (missed int, err error) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nscenario\tbound\tmost\tworst\tverdict")
	for _, v := range verdicts {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", v.scenario, v.figure, v.figure.shown(v.most), v.shownWorst(), v.text(judgeAll))
		// A bound that is known to be missed is printed and not counted.
		if v.counts(judgeAll) {
			missed++
		}
	}
	return missed, t.Flush()
}

// shownWorst returns the worst value, or that the figure did not come about, which is worse than any value.
func (v verdict) shownWorst() string {
	if v.never > 0 {
		return fmt.Sprintf("never, in %d of %d", v.never, v.rounds)
	}
	return v.figure.shown(v.worst)
}

// counts tells whether the bound was missed, and is judged.
func (v verdict) counts(judgeAll bool) bool { return !v.kept() && (v.known == "" || judgeAll) }

// text returns the verdict in words. A bound that is known to be missed and was kept is named, so that its entry in
// the table can go.
func (v verdict) text(judgeAll bool) string {
	switch {
	case v.counts(judgeAll):
		return "MISSED"
	case !v.kept():
		return "KNOWN, NOT JUDGED: " + v.known
	case v.known != "":
		return "kept, although known to be missed: " + v.known
	default:
		return "kept"
	}
}

// roundJSON is a round in the JSON of a report. Times are in nanoseconds.
type roundJSON struct {
	Scenario string           `json:"scenario"`
	Figures  map[figure]int64 `json:"figures"`
	Led      []int            `json:"led,omitempty"` // shards of the node that was hit
	// The next two are by shard: until what was broken was mended, and from then on.
	PutGaps    []time.Duration `json:"put_gaps,omitempty"`
	ReturnGaps []time.Duration `json:"return_gaps,omitempty"`
	Lost       []int           `json:"missing_by_shard,omitempty"` // ticks of the job that lost most
}

// boundJSON is a bound in the JSON of a report.
type boundJSON struct {
	Scenario string `json:"scenario"`
	Figure   figure `json:"figure"`
	Most     int64  `json:"most"`
	Worst    int64  `json:"worst"`
	Never    int    `json:"never"`
	Verdict  string `json:"verdict"`
}

// checkJSON is a check in the JSON of a report.
type checkJSON struct {
	Name       string   `json:"name"`
	Examined   int      `json:"examined"`
	Violations []string `json:"violations"`
}

// printJSON prints a report as one JSON object. The names are for programs and stay as they are.
func printJSON(w io.Writer, opts options, rounds []round, verdicts []verdict, findings []history.Finding) error {
	report := struct {
		Topology string      `json:"topology"`
		Seed     uint64      `json:"seed"`
		Command  string      `json:"command"`
		Rounds   []roundJSON `json:"rounds"`
		Spreads  []spread    `json:"spreads"`
		Bounds   []boundJSON `json:"bounds"`
		Checks   []checkJSON `json:"checks"`
	}{Topology: opts.topology, Seed: opts.seed, Command: opts.command(), Spreads: spreads(rounds)}
	for _, r := range rounds {
		report.Rounds = append(report.Rounds, roundJSON{r.scenario, r.figures, r.led, r.gaps, r.returns, r.lost})
	}
	for _, v := range verdicts {
		report.Bounds = append(report.Bounds, boundJSON{v.scenario, v.figure, v.most, v.worst, v.never, v.text(opts.judgeAll)})
	}
	for _, f := range findings {
		// The list is never nil, so that a check without violations has [] and not null.
		c := checkJSON{Name: f.Name, Examined: f.Examined, Violations: []string{}}
		for _, v := range f.Violations {
			c.Violations = append(c.Violations, v.String())
		}
		report.Checks = append(report.Checks, c)
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(report)
}
