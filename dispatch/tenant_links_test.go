package dispatch

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// estate is a NATS server with an account for each tenant a, b and c, whose users have their names, and a dispatcher.
type estate struct {
	*Dispatcher
	url      string
	connects atomic.Int64
	shares   atomic.Bool // a shares Carillon's account
	broken   atomic.Bool // no tenant can be connected
	unlisted atomic.Bool // no tenant may have a target
}

func startEstate(t *testing.T, linksMax int) *estate {
	t.Helper()
	e := new(estate)
	s := startNATS(t, func(o *server.Options) {
		for _, name := range []string{"own", "a", "b", "c"} {
			account := server.NewAccount(name)
			o.Accounts = append(o.Accounts, account)
			o.Users = append(o.Users, &server.User{Username: name, Password: name, Account: account})
		}
		o.JetStream = false
	})
	e.url = s.ClientURL()
	o := Options{
		Targets:        func(string) job.Targets { return job.Targets{IsUnlisted: e.unlisted.Load()} },
		TenantLinksMax: linksMax, TenantShares: func(tenant string) bool { return tenant == "a" && e.shares.Load() },
		TenantNATS: func(tenant string) (*NATS, error) {
			if e.broken.Load() {
				return nil, errors.New("planted")
			}
			e.connects.Add(1)
			return ConnectNATS(e.url, nats.UserInfo(tenant, tenant))
		},
	}
	e.Dispatcher = start(t, o, e.url, nats.UserInfo("own", "own"))
	return e
}

// to launches to a tenant, and returns the outcome.
func (e *estate) to(t *testing.T, tenant string, kind job.TargetKind) job.Outcome {
	t.Helper()
	del := deliveryTo(job.Target{Kind: kind, Subject: "work"}, 1)
	del.Tenant = tenant
	return testkit.Receive(t, launch(e.Dispatcher, del))
}

// TestTenantsHaveLinks: each tenant's runs leave in its account, its replies come back, and idle links are closed.
func TestTenantsHaveLinks(t *testing.T) {
	t.Parallel()
	e := startEstate(t, 0)
	got := make(chan string, 64)
	for _, name := range []string{"own", "a", "b"} {
		nc := dial(t, e.url, nats.UserInfo(name, name))
		subscribe(t, nc, "work", func(m *nats.Msg) {
			got <- name
			if m.Reply != "" {
				_ = m.Respond([]byte(name))
			}
		})
	}
	for range 3 {
		for _, tenant := range []string{"a", "b"} {
			for _, kind := range []job.TargetKind{job.TargetNATS, job.TargetRequest} {
				if o := e.to(t, tenant, kind); o.Error != "" {
					t.Errorf("a run of %s: %s", tenant, o.Error)
				}
				if where := testkit.Receive(t, got); where != tenant {
					t.Errorf("a run of %s reached %s", tenant, where)
				}
			}
		}
	}
	if n := e.connects.Load(); n != 2 || e.Stats().NATS.Tenants != 2 {
		t.Errorf("%d connections for two tenants, %d open", n, e.Stats().NATS.Tenants)
	}
	testkit.Until(t, "the attempts have left", func() bool { return e.Stats().Lanes == 0 })
	e.tenants.closeIdle() // notes what there was
	e.tenants.closeIdle()
	if n := e.Stats().NATS.Tenants; n != 0 {
		t.Errorf("%d idle links stay open", n)
	}
	if o := e.to(t, "a", job.TargetRequest); o.Error != "" || e.connects.Load() != 3 {
		t.Errorf("after the link was closed: %s, %d connections", o.Error, e.connects.Load())
	}
}

// TestTenantShares: a tenant that shares is served by the common connection until it does not any more.
func TestTenantShares(t *testing.T) {
	t.Parallel()
	e := startEstate(t, 0)
	got := make(chan string, 64)
	for _, name := range []string{"own", "a"} {
		subscribe(t, dial(t, e.url, nats.UserInfo(name, name)), "work", func(*nats.Msg) { got <- name })
	}
	for _, want := range []string{"a", "own", "a"} {
		e.shares.Store(want == "own")
		e.ReviewTenants()
		if o := e.to(t, "a", job.TargetNATS); o.Error != "" {
			t.Error(o.Error)
		}
		if where := testkit.Receive(t, got); where != want {
			t.Errorf("the run reached %s, want %s", where, want)
		}
	}
}

// TestLinksAreBounded: an idle link makes room for another tenant, and a tenant that gets none, or no connection, has its
// runs fail with the reason.
func TestLinksAreBounded(t *testing.T) {
	t.Parallel()
	e := startEstate(t, 1)
	busy := make(chan *nats.Msg, 1)
	subscribe(t, dial(t, e.url, nats.UserInfo("a", "a")), "work", func(m *nats.Msg) { busy <- m })
	subscribe(t, dial(t, e.url, nats.UserInfo("b", "b")), "work", func(m *nats.Msg) { _ = m.Respond(nil) })
	del := deliveryTo(job.Target{Kind: job.TargetRequest, Subject: "work"}, 1)
	del.Tenant = "a"
	first := launch(e.Dispatcher, del)
	m := testkit.Receive(t, busy)
	if o := e.to(t, "b", job.TargetRequest); o.Error == "" {
		t.Error("a second link is opened beside a busy one")
	}
	if err := m.Respond(nil); err != nil {
		t.Fatal(err)
	}
	if o := testkit.Receive(t, first); o.Error != "" {
		t.Error(o.Error)
	}
	testkit.Until(t, "the link of b takes the place", func() bool { return e.to(t, "b", job.TargetRequest).Error == "" })
	if n := e.Stats().NATS.Tenants; n != 1 {
		t.Errorf("%d links are open", n)
	}
	e.broken.Store(true)
	testkit.Until(t, "the reason is told", func() bool { return e.to(t, "c", job.TargetNATS).Error == "planted" })
}

// TestBarredBeforeLink: a run of a tenant that may have no target is dead at once, also if the tenant has no account to
// connect to, and no connection is tried for it.
func TestBarredBeforeLink(t *testing.T) {
	t.Parallel()
	e := startEstate(t, 0)
	e.broken.Store(true)
	e.unlisted.Store(true)
	for _, kind := range []job.TargetKind{job.TargetNATS, job.TargetRequest, job.TargetJetStream} {
		if o := e.to(t, "c", kind); !isBarred(o) {
			t.Errorf("%s: the outcome is %+v", kind, o)
		}
	}
	if n := e.Stats().NATS.Tenants; n != 0 {
		t.Errorf("%d links are open", n)
	}
}

// TestBarredWithoutConnection: what was launched before its tenant lost its targets is dead for that, and not for the
// connection that the tenant does not get.
func TestBarredWithoutConnection(t *testing.T) {
	t.Parallel()
	e := startEstate(t, 0)
	e.broken.Store(true)
	e.to(t, "c", job.TargetNATS) // leaves a link that tries to connect
	e.unlisted.Store(true)
	if o := e.to(t, "c", job.TargetNATS); !isBarred(o) {
		t.Errorf("the outcome is %+v", o)
	}
}

// TestLaunchFindsItsLinkWithoutMemory: a launch costs a lookup in a map, and allocates nothing for it.
func TestLaunchFindsItsLinkWithoutMemory(t *testing.T) {
	e := startEstate(t, 0)
	for i := range 100 {
		if _, err := e.tenants.of(of(fmt.Sprint("tenant-", i), deliveryTo(job.Target{Kind: job.TargetNATS, Subject: "work"}, i))); err != nil {
			t.Fatal(err)
		}
	}
	d := of("tenant-7", deliveryTo(job.Target{Kind: job.TargetNATS, Subject: "work"}, 7))
	if n := testing.AllocsPerRun(1000, func() {
		if l, err := e.tenants.of(d); err == nil {
			l.leave()
		}
	}); n != 0 {
		t.Errorf("%v allocations for each launch", n)
	}
}
