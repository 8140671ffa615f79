package api

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// TestLateForwards: a leader refuses what comes later than the other node waits for it, also of a body the last part, and nothing
// has changed.
func TestLateForwards(t *testing.T) {
	_, url := startService(t, apitest.StartEngine(t), Options{Leads: func() bool { return true }}, 0)
	nc := apitest.Connect(t, url)
	job, about := apitest.JobWith("name", `"a"`), `{"from":"http","timeout_ms":5000}`
	ms := func(ahead time.Duration) string { return strconv.FormatInt(time.Now().Add(ahead).UnixMilli(), 10) }
	ask := func(until string) string {
		t.Helper()
		m := apitest.NewMsg(forwardSubject+"jobs.put", job)
		m.Header[forwardHeader], m.Header[untilHeader] = []string{about}, []string{until}
		got, err := nc.RequestMsg(m, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		return got.Header.Get(lateHeader) + string(got.Data)
	}
	if got := ask(ms(-time.Second)); !strings.HasPrefix(got, "yes") || !strings.Contains(got, "nothing has changed") {
		t.Errorf("a late one: %s", got)
	}
	if got := ask("soon"); !strings.Contains(got, untilHeader) {
		t.Errorf("a bad instant: %s", got)
	}
	whole := fmt.Sprintf(`{"from":"http","timeout_ms":5000,"body_bytes":%d}`, len(job))
	to := askForwarded(t, nc, "jobs.put", whole, "").Header.Get(partsHeader)
	last := apitest.NewMsg(to, job)
	last.Header[untilHeader] = []string{ms(-time.Second)}
	if got, err := nc.RequestMsg(last, 5*time.Second); err != nil || got.Header.Get(lateHeader) == "" {
		t.Errorf("a late last part: %v, %v", got, err)
	}
	if got := audited(t, nc); strings.Contains(got, `"action"`) {
		t.Errorf("carried out all the same: %s", got)
	}
	if e := refusalIn(t, ask(ms(time.Hour))); e != nil {
		t.Errorf("one in time: %v", e)
	}
}

// TestNothingIsCarriedOutAfterTheRefusal: a change is under way to a leader that falls silent, and its caller learns that the outcome
// is unknown. By then the leader may not begin it any more: what it names as the last instant is before the refusal.
func TestNothingIsCarriedOutAfterTheRefusal(t *testing.T) {
	h := hangLeader(t)
	h.processes[0].waits.Store(int64(50 * time.Millisecond))
	refused := make(chan string, 1)
	go func() { refused <- h.askOver(0, "jobs.trigger", `{"name":"`+nameIn(1, 2, 0)+`"}`) }()
	h.await(1)
	held, err := h.got.NextMsg(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	h.fallSilent()
	if text := <-refused; !strings.Contains(text, "unknown") {
		t.Errorf("it ended with %s", text)
	}
	until, err := strconv.ParseInt(held.Header.Get(untilHeader), 10, 64)
	if err != nil || time.Now().Before(time.UnixMilli(until)) {
		t.Errorf("it may be begun until %q: %v", held.Header.Get(untilHeader), err)
	}
}

// TestLateIsAskedAgain: a leader that takes a change for late, because the beats it was judged by are old, is asked again; reads do
// not say until when they may be begun.
func TestLateIsAskedAgain(t *testing.T) {
	c := startShards(t, 2, Options{Process: "p1"}, 0)
	p, name := c.processes[0], nameIn(1, 2, 0)
	p.led[1].Store(&ledBy{process: "p1"})
	p.waits.Store(int64(-time.Minute))
	done := make(chan string, 1)
	go func() { done <- c.askOver(0, "jobs.put", apitest.JobWith("name", `"`+name+`"`)) }()
	late := c.services[1].Executor().stats["jobs.put"].byCode[apierr.Unavailable]
	testkit.Until(t, "it was refused", func() bool { return late.Load() > 0 })
	if e := refusalIn(t, c.askOver(0, "jobs.get", `{"name":"`+name+`"}`)); e == nil || e.Code != client.CodeNotFound {
		t.Errorf("a read meanwhile: %v", e)
	}
	p.waits.Store(int64(time.Minute))
	if e := refusalIn(t, <-done); e != nil {
		t.Errorf("it ended with %v", e)
	}
}
