package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/carillon-io/carillon/bench/crash/history"
)

// printTable prints each round, and what the rounds of a scenario have in common.
func printTable(w io.Writer, rounds []round) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "round\tscenario\t")
	for _, f := range figures {
		fmt.Fprintf(t, "%s\t", f)
	}
	fmt.Fprintln(t, "duplicates\tfarewells")
	for i, r := range rounds {
		fmt.Fprintf(t, "%d\t%s\t", i+1, r.scenario)
		for _, f := range figures {
			if d, ok := r.figures[f]; ok {
				fmt.Fprintf(t, "%s\t", shown(d))
			} else {
				fmt.Fprint(t, "-\t")
			}
		}
		fmt.Fprintf(t, "%d\t%d\n", r.repeats, r.late)
	}
	fmt.Fprintln(t, "\nscenario\tfigure\trounds\tmin\tmedian\tp99\tmax")
	for _, s := range spreads(rounds) {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", s.Scenario, s.Figure, s.Rounds, shown(s.Min), shown(s.Median), shown(s.P99), shown(s.Max))
	}
	return t.Flush()
}

func shown(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// roundJSON is a round in the JSON of a report.
type roundJSON struct {
	Scenario   string                   `json:"scenario"`
	Figures    map[figure]time.Duration `json:"figures_ns"`
	Duplicates int                      `json:"duplicates"`
	Farewells  int                      `json:"farewells"`
}

// checkJSON is a check in the JSON of a report.
type checkJSON struct {
	Name       string   `json:"name"`
	Examined   int      `json:"examined"`
	Violations []string `json:"violations"`
}

// printJSON prints a report as one JSON object.
func printJSON(w io.Writer, opts options, rounds []round, findings []history.Finding) error {
	report := struct {
		Topology string      `json:"topology"`
		Seed     uint64      `json:"seed"`
		Command  string      `json:"command"`
		Rounds   []roundJSON `json:"rounds"`
		Spreads  []spread    `json:"spreads"`
		Checks   []checkJSON `json:"checks"`
	}{Topology: opts.topology, Seed: opts.seed, Command: opts.command(), Spreads: spreads(rounds)}
	for _, r := range rounds {
		report.Rounds = append(report.Rounds, roundJSON{r.scenario, r.figures, r.repeats, r.late})
	}
	for _, f := range findings {
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
