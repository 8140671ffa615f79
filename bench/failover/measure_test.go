package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/bench/history"
)

func ms(n int) history.Instant { return history.Instant(1_795_000_000_000_000 + n*1000) }

// oneFault tells of a leader that is killed at 5.0 s. A job ticks every second; puts are acknowledged every
// 100 ms but from 5.0 to 5.9 s.
func oneFault() *history.History {
	h := &history.History{Cluster: true, Faults: []history.Fault{
		{Kind: "kill9-leader", Takeover: true, From: ms(5000), Served: ms(5900), Healed: ms(7000), Epochs: 1},
	}}
	put := func(job string, at int, spec history.Spec) {
		h.Ops = append(h.Ops, history.Op{ID: len(h.Ops) + 1, Kind: "put", Job: job, Spec: &spec, Invoked: ms(at - 1), Returned: ms(at), Outcome: "acked"})
	}
	put("tick", 50, history.Spec{Kind: "every", Step: time.Second})
	for at := 100; at < 9000; at += 100 {
		if at < 5000 || at >= 5900 {
			put("shot", at, history.Spec{Kind: "one-shot"})
		}
	}
	arrive := func(due, at int, fence uint64) {
		h.Deliveries = append(h.Deliveries, history.Delivery{
			Target: "http", Job: "tick", RunID: ms(due).String(), Mark: 1, Scheduled: ms(due), Arrived: ms(at), Attempt: 1, Fence: fence,
		})
	}
	for due := 1000; due < 5000; due += 1000 {
		arrive(due, due+1, uint64(due/100))
	}
	arrive(4000, 5800, 60)
	arrive(5000, 5810, 61)
	arrive(5500, 5850, 55) // the old leader had it in hand
	arrive(6000, 6002, 62)
	h.Final = &history.Final{Logs: []history.Log{{Node: "n1", Commits: []history.Commit{{LSN: 1, Epoch: 1}, {LSN: 60, Epoch: 2}}}}}
	return h
}

func TestMeasure(t *testing.T) {
	h := oneFault()
	// What only prepares a fault has no figures.
	h.Faults = append([]history.Fault{{Kind: "preparation", Prepares: true, From: ms(3000), Served: ms(3500), Healed: ms(3500)}}, h.Faults...)
	rounds := measure(h)
	if len(rounds) != 1 {
		t.Fatalf("%d rounds", len(rounds))
	}
	r := rounds[0]
	for f, want := range map[figure]string{
		firstLaunch: "800ms", firstPut: "900ms", putGap: "1s", lateness: "810ms",
		duplicates: "1", farewells: "1", lastFarewell: "50ms", epochs: "1",
	} {
		if got := f.shown(r.figures[f]); got != want {
			t.Errorf("%s is %s, want %s", f, got, want)
		}
	}
}

// nameIn returns a name that begins so, of a job in one of two shards.
func nameIn(shard int, name string) string {
	for history.ShardOf(name, 2) != shard {
		name += "."
	}
	return name
}

// TestShardGaps tells the gap of the shards that the victim led from that of the others, and both from what the return of
// the node costs.
func TestShardGaps(t *testing.T) {
	h := &history.History{Cluster: true, Shards: 2, Faults: []history.Fault{
		{Kind: "kill9-leader", Takeover: true, Shards: []int{1}, From: ms(5000), Served: ms(5900), Mended: ms(6000), Healed: ms(8000), Epochs: 3},
	}}
	jobs := map[int]string{history.ShardOf("hourly", 2): "hourly", history.ShardOf("daily", 2): "daily"}
	if len(jobs) != 2 {
		t.Fatal("the jobs are of one shard")
	}
	for at := 4000; at < 9000; at += 50 {
		for shard, job := range jobs {
			dead := shard == 1 && at > 5000 && at < 5800
			if handed := shard == 0 && at > 7000 && at < 7300; !dead && !handed {
				h.Ops = append(h.Ops, history.Op{ID: len(h.Ops) + 1, Kind: "put", Job: job, Spec: &history.Spec{}, Returned: ms(at), Outcome: "acked"})
			}
		}
	}
	// Of two jobs in each shard, the one that lost more counts.
	for name, n := range map[string]int{"tick-a": 8, "tick-b": 6} {
		job := nameIn(1, name)
		spec := history.Spec{Kind: "every", Step: time.Second / 4, Sure: true}
		h.Ops = append(h.Ops, history.Op{ID: len(h.Ops) + 1, Kind: "put", Job: job, Spec: &spec, Returned: ms(1000), Outcome: "acked"})
		for i := range n {
			h.Deliveries = append(h.Deliveries, history.Delivery{Job: job, RunID: fmt.Sprint(job, i), Scheduled: ms(5000 + 250*i), Arrived: ms(5000 + 250*i)})
		}
	}
	rounds := measure(h)
	if want := []int{0, 6}; !slices.Equal(rounds[0].lost, want) || rounds[0].figures[missing] != 6 {
		t.Errorf("lost %v, and %d; want %v of 12", rounds[0].lost, rounds[0].figures[missing], want)
	}
	for f, want := range map[figure]string{putGap: "50ms", ledGap: "800ms", otherGap: "50ms", returnGap: "300ms"} {
		if got := f.shown(rounds[0].figures[f]); got != want {
			t.Errorf("%s is %s, want %s", f, got, want)
		}
	}
	var out bytes.Buffer
	if err := printTable(&out, rounds); err != nil || !strings.Contains(out.String(), "50ms/300ms") || !strings.Contains(out.String(), "800ms*/50ms") {
		t.Errorf("%v\n%s", err, &out)
	}
	out.Reset()
	if missed, err := printVerdicts(&out, judge(rounds, outside, bounds), false); missed != 1 || err != nil { // nothing was launched
		t.Errorf("%d bounds are missed, %v:\n%s", missed, err, &out)
	}
}

func TestSpreads(t *testing.T) {
	var rounds []round
	for i := range 100 {
		rounds = append(rounds, round{scenario: "a", figures: map[figure]int64{putGap: int64(100 - i)}})
	}
	rounds = append(rounds, round{scenario: "b", figures: map[figure]int64{putGap: 7}})
	got := spreads(rounds)
	if len(got) != 2 || got[0] != (spread{"a", putGap, 100, 1, 50, 99, 100}) || got[1] != (spread{"b", putGap, 1, 7, 7, 7, 7}) {
		t.Errorf("%+v", got)
	}
}

func TestReports(t *testing.T) {
	h := oneFault()
	var out bytes.Buffer
	if err := printTable(&out, measure(h)); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "kill9-leader") || !strings.Contains(text, "810ms") || !strings.Contains(text, "first launch") {
		t.Errorf("the table lacks something:\n%s", text)
	}
	out.Reset()
	findings := []history.Finding{{Name: "logs", Examined: 3, Violations: []history.Violation{{Check: "logs", Text: "differ"}}}}
	verdicts := judge(measure(h), embedded, []bound{{"", "", putGap, 3, "because"}})
	if err := printJSON(&out, options{topology: embedded, seed: 7}, measure(h), verdicts, findings); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Seed    uint64
		Rounds  []roundJSON
		Spreads []spread
		Bounds  []boundJSON
		Checks  []checkJSON
	}
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Seed != 7 || len(back.Rounds) != 1 || len(back.Spreads) != 8 || back.Bounds[0].Worst != int64(time.Second) || back.Checks[0].Violations[0] != "logs: differ" {
		t.Errorf("%+v", back)
	}
}

func TestReadLog(t *testing.T) {
	l, err := readLog(strings.NewReader(`{"lsn":7,"epoch":2,"hash":"ab","durable_lsn":6,"bytes":9,"rows":[{"op":"put","kind":"run","key":"r1"},{"op":"delete","kind":"run","key":"r0"}]}
{"lsn":8,"epoch":2,"hash":"cd","rows":[{"op":"put","kind":"history","key":"r2"},{"op":"put","kind":"job","key":"j"}]}
`))
	if err != nil || len(l.Commits) != 2 || l.Commits[1] != (history.Commit{LSN: 8, Epoch: 2, Hash: "cd"}) {
		t.Fatalf("%+v, %v", l, err)
	}
	if len(l.Runs) != 2 || !l.Runs["r1"] || !l.Runs["r2"] {
		t.Errorf("runs %v", l.Runs)
	}
	if _, err := readLog(strings.NewReader(`{"lsn":7} not JSON`)); err == nil {
		t.Error("a damaged dump is read")
	}
}
