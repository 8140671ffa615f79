package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/carillon-io/carillon/bench/measure"
)

// column is one figure that is set side by side.
type column struct {
	workload, key, head string
}

// tables are what is compared in each workload.
var tables = map[string][]column{
	"registration": columnsOf("registration", "one_per_second", "one client, /s", "one_call_p99_ms", "call p99 ms",
		"many_per_second", "many, /s", "many_call_p99_ms", "call p99 ms",
		"many_server_cpu_us", "server µs", "many_client_cpu_us", "clients µs", "shared_per_second", "many, one connection, /s", "shared_call_p99_ms", "call p99 ms", "bulk_per_second", "bulk, /s",
		"memory_mib", "memory MiB", "disk_bytes_per_job", "disk B a job"),
	"herd":   firingColumns("herd"),
	"firing": firingColumns("firing"),
}

func firingColumns(workload string) []column {
	return columnsOf(workload, "lateness_min_ms", "min ms", "lateness_p50_ms", "p50 ms", "lateness_p99_ms", "p99 ms",
		"lateness_p999_ms", "p99.9 ms", "lateness_max_ms", "max ms", "early", "early", "missing", "missing",
		"doubled", "doubled", "server_cpu_us", "server µs a fire", "receiver_cpu_us", "receiver µs a fire")
}

// ratioColumns are what matters most.
var ratioColumns = []column{
	{"registration", "one_per_second", "one client, /s"},
	{"registration", "many_per_second", "many, /s"},
	{"registration", "shared_per_second", "many, one connection, /s"},
	{"registration", "bulk_per_second", "bulk, /s"},
	{"herd", "lateness_p99_ms", "herd p99"},
	{"herd", "cpu_us", "herd CPU"},
	{"firing", "lateness_p99_ms", "firing p99"},
	{"firing", "server_cpu_us", "firing, server's CPU"},
	{"firing", "cpu_us", "firing CPU"},
}

// columnsOf pairs keys with heads.
func columnsOf(workload string, keysAndHeads ...string) (columns []column) {
	for i := 0; i < len(keysAndHeads); i += 2 {
		columns = append(columns, column{workload, keysAndHeads[i], keysAndHeads[i+1]})
	}
	return columns
}

// printTables sets the modes side by side, and adds the ratios to the bare program and to Carillon as results of their own.
func printTables(r *report, modes []mode) {
	look := finder(r.results)
	for _, workload := range workloadNames {
		printTable(r.out, workload, modes, tables[workload], look)
	}
	for _, base := range []struct{ mode, result, whose string }{
		{bareName, "ratios_to_bare", "that of the bare program"},
		{carillonRival, "ratios", "Carillon's"},
	} {
		ratios := result{Name: base.result, Setting: "each one's figure over " + base.whose + "; of CPU, server and receiver together"}
		ratio := func(mode string, c column) (float64, bool) {
			theirs, has := look(mode, c)
			ours, have := look(base.mode, c)
			return theirs / ours, has && have && ours > 0
		}
		for _, m := range modes {
			for _, c := range ratioColumns {
				if v, ok := ratio(m.name, c); ok && m.name != base.mode {
					ratios.figure(m.name+"_"+c.workload+"_"+c.key, m.name+", "+c.head, v, "×")
				}
			}
		}
		if len(ratios.Figures) > 0 {
			r.results = append(r.results, ratios)
			printTable(r.out, ratios.Name+": "+ratios.Setting, modes, ratioColumns, ratio)
		}
	}
}

// finder returns a function that finds the figure of a mode.
func finder(results []result) func(string, column) (float64, bool) {
	byName := make(map[string]*result)
	for i := range results {
		byName[results[i].Name] = &results[i]
	}
	return func(mode string, c column) (float64, bool) {
		if r := byName[c.workload+"/"+mode]; r != nil {
			return r.value(c.key)
		}
		return 0, false
	}
}

// printTable prints a row for each mode that has any of the columns.
func printTable(out io.Writer, title string, modes []mode, columns []column, look func(string, column) (float64, bool)) {
	heads := []string{""}
	for _, c := range columns {
		heads = append(heads, c.head)
	}
	rows := []string{strings.Join(heads, "\t")}
	for _, m := range modes {
		row, isEmpty := []string{m.name}, true
		for _, c := range columns {
			text := "-"
			if v, ok := look(m.name, c); ok {
				text, isEmpty = measure.Number(v), false
			}
			row = append(row, text)
		}
		if !isEmpty {
			rows = append(rows, strings.Join(row, "\t"))
		}
	}
	if len(rows) == 1 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", title)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintln(w, row+"\t")
	}
	_ = w.Flush()
}
