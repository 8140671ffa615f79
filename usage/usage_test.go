package usage_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/scheduler"
	"github.com/carillon-io/carillon/usage"
)

func all(string) bool { return true }

func jobs(n int64) scheduler.Quota { return scheduler.Quota{Jobs: n} }

// TestTable: what a shard may count as elsewhere is the newest of all others, whatever the order in which it comes.
func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := usage.NewTable(3)
		hear := func(shard uint32, epoch, seq uint64, use int64) {
			table.Hear(&usage.Report{Shard: shard, Epoch: epoch, Seq: seq, Uses: []usage.Use{{Tenant: "t", Quota: jobs(use)}}}, time.Now(), all)
		}
		want := func(what string, use int64) {
			t.Helper()
			time.Sleep(time.Second) // of the test's own clock
			if got := table.Elsewhere(0).Uses["t"].Jobs; got != use {
				t.Errorf("%s: shard 0 counts %d elsewhere, want %d", what, got, use)
			}
		}
		want("nothing is known", 0)
		table.Guess(1, []usage.Use{{Tenant: "t", Quota: jobs(40)}})
		want("a replica", 40)
		hear(1, 0, 1, 41)
		want("a replica of another process", 41)
		hear(1, 1, 7, 10)
		hear(2, 1, 1, 5)
		hear(0, 1, 1, 100)
		hear(9, 1, 1, 1000)
		want("its own use and that of no shard are not elsewhere", 15)
		table.Guess(1, []usage.Use{{Tenant: "t", Quota: jobs(40)}})
		hear(1, 0, 99, 40)
		want("replicas of a shard with a leader", 15)
		hear(1, 1, 6, 99)
		want("an older report", 15)
		hear(1, 2, 1, 11)
		hear(1, 1, 99, 50)
		want("a former leader", 16)
		time.Sleep(time.Minute)
		want("silence", 16)
		hear(1, 1, 3, 12)
		want("an earlier epoch long after", 17)
		hear(1, 3, 1, 0)
		hear(2, 3, 1, 0)
		want("nothing is used any more", 0)
	})
}

// TestSumIsKept: a sum is made at most four times a second, is the same as long as nothing changes, and costs nothing then.
func TestSumIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := usage.NewTable(2)
		report := usage.Report{Shard: 1, Epoch: 1, Uses: []usage.Use{{Tenant: "t", Quota: jobs(1)}}}
		first := table.Elsewhere(0)
		report.Seq = 1
		table.Hear(&report, time.Now(), all)
		if table.Elsewhere(0) != first {
			t.Error("another sum at once")
		}
		time.Sleep(time.Second)
		second := table.Elsewhere(0)
		if second == first || second.Uses["t"] != jobs(1) {
			t.Errorf("after a second the sum is %+v", second)
		}
		report.Seq = 2
		table.Hear(&report, time.Now(), all)
		time.Sleep(time.Second)
		if table.Elsewhere(0) != second {
			t.Error("the same use makes another sum")
		}
		if n := testing.AllocsPerRun(100, func() { table.Elsewhere(0) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// TestOnlyTenantsWithQuota: names without a quota take no memory, whatever a message has.
func TestOnlyTenantsWithQuota(t *testing.T) {
	table := usage.NewTable(2)
	r := usage.Report{Shard: 1, Epoch: 1, Seq: 1, Uses: []usage.Use{{"a", jobs(1)}, {"b", jobs(2)}}}
	table.Hear(&r, time.Now(), func(tenant string) bool { return tenant == "b" })
	if got := table.Elsewhere(0).Uses; !reflect.DeepEqual(got, map[string]scheduler.Quota{"b": jobs(2)}) {
		t.Errorf("the uses are %v", got)
	}
}

// TestMessages: many uses take several messages, each complete in itself: one that is lost changes nothing for the tenants of
// the others, and a tenant that uses nothing any more is in none.
func TestMessages(t *testing.T) {
	report := usage.Report{Shard: 1, Epoch: 3}
	for i := range 2500 {
		report.Uses = append(report.Uses, usage.Use{Tenant: fmt.Sprintf("t%04d", i), Quota: scheduler.Quota{Jobs: int64(i), Bytes: 7, LiveRuns: 9}})
	}
	messages, next := usage.Encode("id", "a", []usage.Report{{Shard: 0, Epoch: 2}, report}, 10)
	if len(messages) != 3 || next != 14 {
		t.Fatalf("%d messages, up to %d", len(messages), next)
	}
	send := func(to *usage.Table, messages [][]byte) {
		t.Helper()
		for _, m := range messages {
			node, reports, err := usage.Decode("id", m)
			if err != nil || node != "a" {
				t.Fatal(node, err)
			}
			for i := range reports {
				to.Hear(&reports[i], time.Now(), all)
			}
		}
	}
	table := usage.NewTable(2)
	send(table, messages)
	got := table.Elsewhere(0).Uses
	if len(got) != 2500 || got["t0777"] != report.Uses[777].Quota {
		t.Errorf("%d uses, and t0777 uses %+v", len(got), got["t0777"])
	}
	report.Uses = slices.Delete(report.Uses, 0, 2000)
	messages, _ = usage.Encode("id", "a", []usage.Report{report}, next)
	late := usage.NewTable(2)
	send(late, messages)
	if got := late.Elsewhere(0).Uses; len(messages) != 1 || len(got) != 500 {
		t.Errorf("%d messages with %d uses", len(messages), len(got))
	}
}

// TestOtherMessages: what no node of this cluster sends is refused.
func TestOtherMessages(t *testing.T) {
	good := `{"version":1,"cluster_id":"id","node":"a","shards":[{"shard":1,"epoch":1,"seq":1,"uses":{"t":[1,2,3]}}]}`
	if _, reports, err := usage.Decode("id", []byte(good)); err != nil || len(reports) != 1 || reports[0].Uses[0].Quota != (scheduler.Quota{Jobs: 1, Bytes: 2, LiveRuns: 3}) {
		t.Fatalf("%+v, %v", reports, err)
	}
	for _, bad := range []string{
		"", "{}", `{"version":2,"cluster_id":"id"}`, `{"version":1,"cluster_id":"other"}`,
		`{"version":1,"cluster_id":"id","shards":[{"uses":{"t":[-1,0,0]}}]}`, `{"version":1,"cluster_id":"id","shards":[{"uses":{"t":[0,0,9007199254740992]}}]}`,
	} {
		if _, _, err := usage.Decode("id", []byte(bad)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":1,"cluster_id":"id","node":"a","shards":[{"shard":1,"epoch":1,"seq":1,"from":"a","to":"z","uses":{"t":[1,2,3]}}]}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, reports, _ := usage.Decode("id", data)
		table := usage.NewTable(2)
		for i := range reports {
			table.Hear(&reports[i], time.Now(), all)
		}
		table.Elsewhere(0)
	})
}
