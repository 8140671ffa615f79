package api

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/memory"
	"github.com/carillon-io/carillon/scheduler"
)

// calendarsQuota is how many calendars the tenant of these tests may have.
const calendarsQuota = 3

// startWithQuota runs an engine in memory whose tenants have a quota of calendars.
func startWithQuota(t testing.TB) *scheduler.Engine {
	return startEngine(t, scheduler.Options{
		Log: new(memory.Log), Store: new(memory.Store), Sender: mixed{}, Logger: apitest.Quiet, CalendarsMax: func(string) int { return calendarsQuota },
	})
}

func putDay(name string) string { return fmt.Sprintf(`{"name":%q,"exclude":["2026-12-25"]}`, name) }

// TestFirstShardDecidesByTheQuota: a copy is taken by a shard that has as many calendars as the quota allows, because the
// first shard has deleted some of them; what the first shard refuses reaches no other one.
func TestFirstShardDecidesByTheQuota(t *testing.T) {
	c := startShardsOn(t, 4, Options{}, 0, startWithQuota)
	for i := range calendarsQuota {
		if got := c.ask("calendars.put", putDay(fmt.Sprint("c", i))); refusalIn(t, got) != nil {
			t.Fatal(got)
		}
	}
	if e := refusalIn(t, c.ask("calendars.put", putDay("more"))); e == nil || e.Code != client.CodeQuotaExceeded || !strings.HasPrefix(e.Message, "the tenant default has 3 calendars") {
		t.Errorf("beyond the quota: %v", e)
	}
	if err := c.engines[0].DeleteCalendar(t.Context(), "default", "c0"); err != nil {
		t.Fatal(err)
	}
	for router := range c.routers { // one shard of each process is asked over NATS, and the other one in this process
		if got := c.askOver(router, "calendars.put", putDay("more")); refusalIn(t, got) != nil {
			t.Error(got)
		}
		if got := c.askOver(router, "calendars.delete", `{"name":"more"}`); refusalIn(t, got) != nil {
			t.Error(got)
		}
	}
	for shard, e := range c.engines[1:] { // a put that no router sends is not of a copy
		if _, _, err := e.PutCalendar(t.Context(), &job.Calendar{Tenant: "default", Name: "more", Exclude: []string{"2026-12-25"}}); err == nil {
			t.Errorf("shard %d has no quota", shard+1)
		}
	}
}

// TestQuotaOfCalendarsInARace: while calendars come and go at two nodes at a time, near the quota, a put is refused by the first
// shard, and nothing has changed, or it is in all shards.
func TestQuotaOfCalendarsInARace(t *testing.T) {
	c := startShardsOn(t, 4, Options{}, 0, startWithQuota)
	var all sync.WaitGroup
	for i := range 6 {
		rnd := rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			for range 40 {
				name, router := fmt.Sprint("x", rnd.IntN(calendarsQuota+2)), rnd.IntN(2)
				if rnd.IntN(5) < 2 {
					c.askOver(router, "calendars.delete", `{"name":"`+name+`"}`)
					continue
				}
				e := refusalIn(t, c.askOver(router, "calendars.put", putDay(name)))
				if e != nil && (e.Code != client.CodeQuotaExceeded || !strings.HasPrefix(e.Message, "the tenant default has 3 calendars")) {
					t.Errorf("put: %v", e)
				}
			}
		})
	}
	all.Wait()
}
