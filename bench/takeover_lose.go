package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// lossCalm is how long jobs tick before the node is killed, and lossAfter how long they do after it.
const (
	lossCalm  = 13 * time.Second // longer than ticks are decided ahead
	lossAfter = 20 * time.Second
)

// lose kills the node that leads shard 0 while jobs tick, waits until others lead its shards, counts the jobs, and starts it
// again.
func (t *takeover) lose(s *stand, r *result) error {
	recv, err := s.startReceiver(t.urls, fireSubject)
	if err != nil {
		return err
	}
	fires := &jitterCmd{Every: t.Every, For: lossCalm + lossAfter, Payload: len(`{"bench":true}`)}
	w, err := fires.register(s, t.client)
	if err != nil {
		return err
	}
	s.wait(time.Until(w.from.Add(lossCalm)))
	want := t.load.accepted + t.Every
	if err := t.counted(s, r, "before", "before the kill", want); err != nil {
		return err
	}
	killed, led, err := t.kill(s, r)
	if err != nil {
		return err
	}
	at := time.Now()
	if err := t.takenOver(s, r, killed); err != nil {
		return err
	}
	if err := t.counted(s, r, "after", "after the kill", want); err != nil {
		return err
	}
	s.watch(t.name, w)
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	t.tellFires(r, w, receipts, at, led)
	if err := t.comesBack(s, r, killed); err != nil {
		return err
	}
	if err := t.counted(s, r, "end", "when the node is level again", want); err != nil {
		return err
	}
	ctx, cancel := s.asking()
	defer cancel()
	return t.load.compare(ctx, t.client, r)
}

// kill kills the node that leads shard 0, and returns it, and which shards it led.
func (t *takeover) kill(s *stand, r *result) (killed int, led []uint32, err error) {
	st, err := statusOf(s, t.client)
	if err != nil {
		return 0, nil, err
	}
	rows := rowsOf(&st)
	killed = slices.Index(t.names, rows[0].Leader)
	if killed < 0 {
		return 0, nil, fmt.Errorf("shard 0 is led by %q", rows[0].Leader)
	}
	for i := range rows {
		if rows[i].Leader == rows[0].Leader {
			led = append(led, uint32(i))
		}
	}
	r.count("led", "shards that the killed node leads", len(led))
	t.nodes[killed].kill()
	return killed, led, nil
}

// takenOver waits until other nodes lead all shards.
func (t *takeover) takenOver(s *stand, r *result, killed int) error {
	began := time.Now()
	err := t.until(s, "other nodes lead all shards", func(rows []client.ShardStatus) bool {
		return !slices.ContainsFunc(rows, func(row client.ShardStatus) bool {
			return !row.HasLeader || row.Leader == "" || row.Leader == t.names[killed]
		})
	})
	r.add("leads_s", "from the kill until other nodes lead all shards", time.Since(began).Seconds(), "s")
	return err
}

// tellFires adds how soon the shards of the killed node fired again, and whether every tick came. Ticks that come twice, under
// one run id, are no fault here.
func (t *takeover) tellFires(r *result, w *window, receipts []receipt, at time.Time, led []uint32) {
	first := make(map[uint32]time.Duration)
	for _, one := range receipts {
		shard := job.ShardOf(job.SlotOf("default", one.job), t.shards)
		after := one.arrived.Sub(at)
		if old, ok := first[shard]; after > 0 && slices.Contains(led, shard) && (!ok || after < old) {
			first[shard] = after
		}
	}
	var all samples
	for _, after := range first {
		all = append(all, after)
	}
	if len(all) < len(led) {
		r.breaks("%d of the %d shards of the killed node fired no more", len(led)-len(all), len(led))
	}
	slices.Sort(all)
	r.add("fires_first_ms", "from the kill to the first run of a shard of the killed node", millis(all.at(0)), "ms")
	r.add("fires_last_ms", "to the first run of the last of them", millis(all.at(100_000)), "ms")
	count := w.judge(receipts)
	slices.Sort(count.all)
	r.add("latest_ms", "greatest lateness of a tick", millis(count.all.at(100_000)), "ms")
	r.count("doubled", "runs that came twice", count.doubled)
	r.none("early", "early", count.early)
	r.none("missing", "missing", count.missing)
	r.none("strange", "of an unknown job or time", count.strange)
}

// comesBack starts the killed node again, and waits until it is level in all of its shards.
func (t *takeover) comesBack(s *stand, r *result, killed int) error {
	m := t.nodes[killed]
	began := time.Now()
	if err := m.launch(s); err != nil {
		return err
	}
	if err := m.awaitReady(readyWait); err != nil {
		return err
	}
	r.add("start_s", "start of the killed node, to its ready line", m.readyIn.Seconds(), "s")
	err := t.until(s, "the killed node is level", func(rows []client.ShardStatus) bool {
		return !slices.ContainsFunc(rows, func(row client.ShardStatus) bool { return !isLevel(&row, min(2, len(t.names))) })
	})
	r.add("level_s", "from its start until all copies are level", time.Since(began).Seconds(), "s")
	return err
}
