package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/testkit"
)

// kept begins each value of the attacked tenant that its attacker does not know.
const kept = "kept-"

// prey is a server with the tenant stock, which is attacked from billing, and all of stock that the attacker knows.
type prey struct {
	*estate
	names, runs, cursors, keys []string
	fence                      string
	refused, done              atomic.Int64 // requests of the attacker
}

// plantPrey gives stock jobs that do not fire, runs in several states, a calendar and audit entries.
func plantPrey(t *testing.T) *prey {
	t.Helper()
	p := &prey{estate: startEstate(t, nil), keys: []string{"known-key"}, names: []string{"known-worked", "known-dead", "known-plain"}}
	c := p.of("stock", "stock-admin")
	worker := listen(t, p.as("stock-operator"), "work")
	base := client.Job{
		Schedule: "@yearly", Payload: json.RawMessage(`"` + kept + `payload"`), Labels: map[string]string{"l": kept + "label"}, Description: kept + "description",
		Headers: client.Headers{"X-Plain": kept + "header", "Authorization": kept + "credential"}, Retry: client.Retry{MaxAttempts: 1},
	}
	for name, target := range map[string]client.Target{
		"known-worked": {Kind: "nats", Subject: "work"}, "known-dead": {Kind: "request", Subject: "nobody"}, "known-plain": {Kind: "nats", Subject: "plain"}, kept + "name": {Kind: "nats", Subject: "plain"},
	} {
		j := base
		j.Name, j.Target = name, target
		if name == "known-worked" {
			j.Completion, j.AttemptTimeout = "reported", client.Duration(time.Hour)
		}
		if _, _, err := c.Put(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := c.PutCalendar(t.Context(), client.CalendarRequest{Name: "known-days", Exclude: []string{"2026-01-06"}, Description: kept + "calendar"}); err != nil {
		t.Fatal(err)
	}
	held, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "known-worked", IdempotencyKey: p.keys[0], Payload: json.RawMessage(`"` + kept + `trigger"`)})
	if err != nil {
		t.Fatal(err)
	}
	p.fence = testkit.Receive(t, worker).Header.Get("Carillon-Fence")
	dead := ended(t, c, trigger(t, c, "known-dead"), "dead")
	over := ended(t, c, trigger(t, c, "known-plain"), "succeeded")
	p.runs = []string{held.RunID, dead.RunID, over.RunID}
	p.plantCursors(c)
	return p
}

// plantCursors takes cursors from lists of stock.
func (p *prey) plantCursors(c *client.Client) {
	p.t.Helper()
	jobs, err := c.List(p.t.Context(), client.ListRequest{Limit: 1})
	if err != nil {
		p.t.Fatal(err)
	}
	audit, err := c.ListAudit(p.t.Context(), client.AuditRequest{Limit: 1})
	if err != nil {
		p.t.Fatal(err)
	}
	if p.cursors = []string{jobs.NextCursor, audit.NextCursor}; jobs.NextCursor == "" || audit.NextCursor == "" {
		p.t.Fatal("a list has no cursor")
	}
}

// rows returns all that stock has, in clear, as the admin of all reads it.
func (p *prey) rows() string {
	p.t.Helper()
	nc := p.as("cluster")
	defer nc.Close()
	text := ""
	for _, request := range []string{
		`jobs.list {"with_credentials":true,"limit":1000}`, `jobs.get {"name":"known-worked","with_credentials":true}`, `jobs.get {"name":"known-dead","with_credentials":true}`,
		`jobs.get {"name":"known-plain","with_credentials":true}`, `jobs.get {"name":"kept-name","with_credentials":true}`,
		`runs.list {"job":"known-worked","attempts":true,"limit":1000}`, `runs.list {"job":"known-dead","attempts":true,"limit":1000}`, `runs.list {"job":"known-plain","attempts":true,"limit":1000}`,
		`runs.list {"job":"kept-name","attempts":true,"limit":1000}`, `runs.list {"status":"dead","attempts":true,"limit":1000}`,
		`runs.get {"run_id":"` + p.runs[0] + `"}`, `runs.get {"run_id":"` + p.runs[1] + `"}`, `runs.get {"run_id":"` + p.runs[2] + `"}`,
		`calendars.list {"limit":1000}`, `calendars.get {"name":"known-days"}`, `audit.list {"limit":1000}`,
	} {
		verb, body, _ := strings.Cut(request, " ")
		m, err := nc.Request("carillon.v1.stock."+verb, []byte(body), 10*time.Second)
		if err != nil || m.Header.Get("Nats-Service-Error") != "" {
			p.t.Fatalf("%s: %v, %v", request, m, err)
		}
		text += request + " " + string(m.Data) + "\n"
	}
	return text
}

// isClean fails the test if an answer to the attacker has what only stock knows, or a run of stock that was not asked for.
func (p *prey) isClean(t *testing.T, request, reply string) {
	t.Helper()
	if strings.Contains(reply, kept) {
		t.Errorf("the request %.500s\nis answered with what another tenant has:\n%s", request, around(reply, kept))
	}
	for _, run := range p.runs {
		if strings.Contains(reply, run) && !strings.Contains(request, run) {
			t.Errorf("the request %.500s\nis answered with a run of another tenant:\n%s", request, around(reply, run))
		}
	}
}

// knock is the attacker's connection to NATS. Each request is answered, or refused by the server without a reply.
type knock struct {
	*nats.Conn
	refusals chan error
}

func (p *prey) knock(t *testing.T, principal string) *knock {
	t.Helper()
	k := &knock{refusals: make(chan error, 16)}
	k.Conn = connectAs(t, p.Ready().NATS, principal, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { k.refusals <- err }))
	return k
}

// asks sends a request, and waits for its answer or its refusal.
func (k *knock) asks(t *testing.T, p *prey, m *nats.Msg) {
	t.Helper()
	m.Reply = k.NewInbox()
	got := make(chan *nats.Msg, 4)
	sub, err := k.ChanSubscribe(m.Reply, got)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := k.PublishMsg(m); err != nil {
		return // the library refuses the subject or a header
	}
	request := fmt.Sprintf("%s %v %s", m.Subject, m.Header, m.Data)
	select {
	case r := <-got:
		p.count(len(r.Header["Nats-Service-Error"]) > 0 || len(r.Header["Status"]) > 0)
		p.isClean(t, request, fmt.Sprintf("%v %s", r.Header, r.Data))
	case <-k.refusals:
		p.count(true)
	case <-time.After(20 * time.Second):
		t.Fatalf("nothing answers %.500s", request)
	}
}

func (p *prey) count(isRefused bool) {
	if isRefused {
		p.refused.Add(1)
		return
	}
	p.done.Add(1)
}

// answered judges an answer over HTTP.
func (p *prey) answered(t *testing.T, request string, r testkit.Reply) {
	t.Helper()
	p.count(r.Status >= http.StatusBadRequest)
	if r.Status >= http.StatusInternalServerError && r.Status != http.StatusServiceUnavailable {
		t.Errorf("the request %.500s: %d %.300s", request, r.Status, r.Body)
	}
	p.isClean(t, request, fmt.Sprintf("%v %s", r.Header, r.Body))
}
