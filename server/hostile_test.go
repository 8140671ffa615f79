package server_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

var hostileRequests = flag.Int("hostile.requests", 3000, "requests that TestHostileTenant sends, at most 100,000")

// TestHostileTenant sends random requests of one tenant's operator and admin through every door, aimed at another tenant:
// nothing of that tenant changes, and no answer has anything of it.
func TestHostileTenant(t *testing.T) {
	t.Parallel()
	if *hostileRequests < 8 || *hostileRequests > 100_000 {
		t.Fatalf("-hostile.requests is %d; want 8 to 100000", *hostileRequests)
	}
	seed := testkit.Seed(t)
	t.Logf("the seed is %d", seed)
	p := plantPrey(t)
	before := p.rows()
	for _, word := range []string{"payload", "header", "credential", "label", "description", "name", "calendar"} {
		if !strings.Contains(before, kept+word) {
			t.Fatalf("the tenant has no planted %s", word)
		}
	}
	t.Run("doors", func(t *testing.T) {
		for _, principal := range []string{"billing-operator", "billing-admin"} {
			for door, send := range map[string]func(*attack){"NATS": (*attack).overNATS, "HTTP": (*attack).overHTTP, "session": (*attack).inSession, "page": (*attack).onPages} {
				a := &attack{prey: p, principal: principal, Rand: rand.New(rand.NewPCG(seed, uint64(len(principal))<<8+uint64(door[0])))}
				t.Run(door+" "+principal, func(t *testing.T) {
					t.Parallel()
					a.t = t
					send(a)
				})
			}
		}
	})
	if after := p.rows(); after != before {
		t.Errorf("the rows of the tenant were\n%s\nand are\n%s", before, after)
	}
	if done, refused := p.done.Load(), p.refused.Load(); done < int64(*hostileRequests/50) || refused < int64(*hostileRequests/10) {
		t.Errorf("%d requests were carried out and %d refused: the attack is not what it should be", done, refused)
	}
}

// attack sends the requests of a principal through one door.
type attack struct {
	t *testing.T
	*prey
	*rand.Rand
	principal string
}

// each calls send for each request of this door.
func (a *attack) each(send func()) {
	for range *hostileRequests / 8 {
		if send(); a.t.Failed() {
			return
		}
	}
}

func (a *attack) pick(from ...string) string { return from[a.IntN(len(from))] }

// tenant returns the name of a tenant, mostly that of the attacked one, and sometimes a disguise of it.
func (a *attack) tenant() string {
	return a.pick("stock", "stock", "stock", "stock", "billing", "billing", "default", "Stock", "stock ", "*", "billing,stock", "billing.stock", "..", "billing/../stock")
}

func (a *attack) name() string {
	return a.pick(append([]string{"known-days", "stock/known-plain", "../stock/known-plain", "known-", a.noise()}, a.names...)...)
}

func (a *attack) noise() string {
	b := make([]byte, a.IntN(40))
	for i := range b {
		b[i] = byte(a.Uint32())
	}
	return string(b)
}

// body returns the body of a request, with members that other verbs have.
func (a *attack) body() string {
	if a.IntN(12) == 0 {
		return a.noise()
	}
	target := a.pick(`{"kind":"nats","subject":"work"}`, `{"kind":"nats","subject":"carillon.v1.stock.jobs.delete"}`, `{"kind":"request","subject":"carillon.account.v1.stock.jobs.list"}`,
		`{"kind":"http","url":{"secret":"stock/url"}}`, `{"kind":"request","subject":"nobody"}`)
	all := []string{
		fmt.Sprintf(`"name":%q`, a.pick(a.names...)), fmt.Sprintf(`"job":%q`, a.pick(a.names...)), fmt.Sprintf(`"run_id":%q`, a.pick(a.runs...)), `"fence":` + a.fence,
		`"status":` + a.pick(`"dead"`, `"succeeded"`, `"failed"`), fmt.Sprintf(`"cursor":%q`, a.pick(a.cursors...)), `"idempotency_key":"` + a.keys[0] + `"`,
		`"tenant":"stock"`, `"with_credentials":true`, `"attempts":true`, `"prefix":"k"`, `"limit":1000`, `"schedule":"@yearly"`, `"target":` + target, `"by":"1h"`,
		`"exclude":["2026-01-07"]`, `"from":"2020-01-01T00:00:00Z"`, `"to":"2020-02-01T00:00:00Z"`, `"reason":"r"`, `"jobs":[{"name":"known-plain","schedule":"@yearly","target":` + target + `}]`,
	}
	forms := [][]int{{}, {0}, {2}, {2, 3, 4}, {2, 3, 14}, {0, 12, 13}, {0, 6}, {0, 15}, {1, 9, 11}, {4, 9}, {5}, {8, 11}, {0, 8}, {0, 16, 17}, {1, 11}, {19}, {10, 5}, {0, 18}, {7, 0}, {7, 2}, {7, 12, 13, 0}}
	members := make([]string, 0, 8)
	for _, i := range forms[a.IntN(len(forms))] {
		members = append(members, all[i])
	}
	if a.IntN(6) == 0 {
		members = append(members, all[a.IntN(len(all))])
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (a *attack) overNATS() {
	k := a.knock(a.t, a.principal)
	a.each(func() {
		verb := matrix[a.IntN(len(matrix))].verb
		m := nats.NewMsg(strings.NewReplacer("{t}", a.tenant(), "{v}", verb).Replace(a.pick("carillon.v1.{t}.{v}", "carillon.v1.{t}.{v}", "carillon.v1.{t}.{v}", "carillon.v1.billing.{v}", "carillon.v1.billing.{v}",
			"carillon.account.v1.{t}.{v}", "carillon.standby.v1.{t}.{v}", "carillon.shard.0.v1.{t}.{v}", "carillon.backup.0.open", "carillon.cluster.0.handover", "carillon.forward.{t}.{v}", "$JS.API.STREAM.LIST")))
		m.Data = []byte(a.body())
		for name, value := range a.headers() {
			m.Header.Set(name, value)
		}
		k.asks(a.t, a.prey, m)
	})
}

// headers returns headers that claim to be of the other tenant.
func (a *attack) headers() map[string]string {
	h := map[string]string{}
	for _, pair := range [][2]string{
		{"Nats-Request-Info", `{"acc":"stock","user":"stock-admin","name":"stock"}`}, {"Carillon-By", "token:stock-admin"}, {"Carillon-Tenant", a.tenant()},
		{"Idempotency-Key", a.keys[0]}, {"X-Forwarded-User", "stock-admin"}, {"Carillon-Run-Id", a.runs[0]},
	} {
		if a.IntN(4) == 0 {
			h[pair[0]] = pair[1]
		}
	}
	return h
}

// path returns the path of a verb with names of the other tenant in it.
func (a *attack) path() (method, path string) {
	m := &matrix[a.IntN(len(matrix))]
	method, path = m.url()
	path = strings.NewReplacer("/jobs/a", "/jobs/"+url.PathEscape(a.name()), "/calendars/a", "/calendars/"+a.pick("known-days", "x"), "/runs/x", "/runs/"+a.pick(a.runs...)).Replace(path)
	path, query, _ := strings.Cut(path, "?")
	q, _ := url.ParseQuery(query)
	for _, pair := range [][2]string{
		{"tenant", a.tenant()}, {"cursor", a.pick(a.cursors...)}, {"name", a.name()}, {"with_credentials", "true"}, {"job", a.pick(a.names...)}, {"status", "dead"}, {"x", a.noise()},
	} {
		if a.IntN(5) == 0 {
			q.Add(pair[0], pair[1])
		}
	}
	return method, path + "?" + q.Encode()
}

func (a *attack) overHTTP() {
	a.throughHTTP(browse(a.t, a.Ready().HTTP), "Authorization: Bearer "+a.principal)
}

func (a *attack) inSession() { a.throughHTTP(a.signedIn()) }

func (a *attack) signedIn() *browser {
	b := browse(a.t, a.Ready().HTTP)
	b.http.Timeout = 20 * time.Second // of a stream that opens where it should not
	if b.signsIn(a.principal, "/"); cookieOf(b) == "" {
		a.t.Fatal("the attacker has no session")
	}
	return b
}

// throughHTTP sends requests to the API.
func (a *attack) throughHTTP(b *browser, always ...string) {
	a.each(func() {
		method, path := a.path()
		body := ""
		if method == http.MethodPost || method == http.MethodPut {
			body = a.body()
		}
		headers := append([]string{"Content-Type: application/json", "Accept: application/json", "Origin: " + b.base}, always...)
		tenant := "Carillon-Tenant: " + a.pick("stock", "stock", "billing", "billing", a.tenant())
		if a.IntN(8) > 0 {
			headers = append(headers, tenant)
		}
		for name, value := range a.headers() {
			if name != "Carillon-Tenant" {
				headers = append(headers, name+": "+value)
			}
		}
		a.answered(a.t, fmt.Sprint(method, " ", path, " ", headers, " ", body), b.do(method, path, body, headers...))
	})
}

// onPages reads pages and sends their forms.
func (a *attack) onPages() {
	b := a.signedIn()
	a.each(func() {
		method, path := http.MethodGet, a.pick("/", "/jobs", "/job", "/job/edit", "/new", "/runs", "/run", "/audit", "/playground", "/live")
		if a.IntN(2) == 0 {
			method, path = http.MethodPost, a.pick("/job/pause", "/job/resume", "/job/trigger", "/job/delete", "/job/edit", "/new", "/run/cancel", "/run/retry", "/runs/retry")
		}
		q := url.Values{"tenant": {a.pick("stock", "stock", "billing", a.tenant())}, "name": {a.name()}, "id": {a.pick(a.runs...)}, "job": {a.pick(a.names...)}}
		if a.IntN(4) == 0 {
			q.Set("cursor", a.pick(a.cursors...))
		}
		if path == "/live" { // one of the own tenant would stay open
			q = url.Values{"page": {"/jobs?tenant=stock"}}
		}
		form := ""
		if method == http.MethodPost {
			form = url.Values{"tenant": {"stock"}, "name": {a.pick(a.names...)}, "id": {a.pick(a.runs...)}, "key": {a.keys[0]}, "version": {"1"}, "text": {a.body()}, "definition": {a.body()}}.Encode()
		}
		cookie := "X-Nothing: x"
		if a.IntN(6) == 0 {
			cookie = "Cookie: tenant=stock; carillon-tenant=stock"
		}
		a.answered(a.t, fmt.Sprint(method, " ", path, "?", q.Encode(), " ", cookie, " ", form), b.do(method, path+"?"+q.Encode(), form, cookie))
	})
}
