package dispatch

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// allowance is what the tenant billing may have; a test can change it. Other tenants are not restricted.
type allowance struct{ now atomic.Pointer[job.Targets] }

// set allows subjects, hosts and networks. nil restricts nothing.
func (a *allowance) set(t *testing.T, subjects, hosts, openings []string) {
	t.Helper()
	var next job.Targets
	if subjects != nil {
		next.Subjects = new(job.SubjectSet)
	}
	if hosts != nil {
		next.Hosts = new(job.HostSet)
	}
	add := func(one func(string) error, patterns []string) {
		for _, pattern := range patterns {
			if err := one(pattern); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(next.Subjects.Add, subjects)
	add(next.Hosts.Add, hosts)
	add(next.Reach.Add, openings)
	a.now.Store(&next)
}

func (a *allowance) of(tenant string) job.Targets {
	if tenant != "billing" {
		return job.Targets{}
	}
	return *a.now.Load()
}

// of returns the delivery as one of a tenant.
func of(tenant string, d *job.Delivery) *job.Delivery {
	d.Tenant = tenant
	return d
}

// isBarred reports whether an outcome says that the target is not allowed, and nothing was sent.
func isBarred(o job.Outcome) bool {
	return o.Died == job.ReasonTarget && o.Refused && strings.HasPrefix(o.Error, "target not allowed: ")
}

// TestSubjectsOfTenants: an attempt is published only if its tenant may have the subject at that moment.
func TestSubjectsOfTenants(t *testing.T) {
	s := startNATS(t, nil)
	nc := dial(t, s.ClientURL())
	var got atomic.Int64
	subscribe(t, nc, "crm.run", func(m *nats.Msg) {
		got.Add(1)
		if m.Reply != "" {
			_ = m.Respond([]byte(`{"stream":"s","seq":1}`))
		}
	})
	allowed := new(allowance)
	d := start(t, Options{Targets: allowed.of}, s.ClientURL())
	for _, kind := range []job.TargetKind{job.TargetNATS, job.TargetRequest, job.TargetJetStream} {
		target := job.Target{Kind: kind, Subject: "crm.run"}
		before := got.Load()
		for n, subjects := range [][]string{{}, {"billing.>"}, {"crm.*.x", "crm"}} {
			allowed.set(t, subjects, nil, nil)
			o := testkit.Receive(t, launch(d, of("billing", deliveryTo(target, n))))
			if !isBarred(o) || !strings.Contains(o.Error, `"crm.run"`) || !o.LaunchedAt.IsZero() {
				t.Errorf("%s with %q: outcome is %+v", kind, subjects, o)
			}
			if o := testkit.Receive(t, launch(d, of("other", deliveryTo(target, n)))); o.Error != "" {
				t.Errorf("%s of another tenant: %s", kind, o.Error)
			}
		}
		for n, subjects := range [][]string{{"billing.>", "crm.*"}, nil} {
			allowed.set(t, subjects, nil, nil)
			if o := testkit.Receive(t, launch(d, of("billing", deliveryTo(target, n)))); o.Error != "" {
				t.Errorf("%s with %q: %s", kind, subjects, o.Error)
			}
		}
		testkit.Until(t, "the messages arrived", func() bool { return got.Load() == before+5 })
		if st := d.Stats().ByKind[kind]; st.Ended[EndedBarred] != 3 || st.Ended[EndedOK] != 5 || st.Ended[EndedRefused] != 0 {
			t.Errorf("%s: counts are %+v", kind, st)
		}
	}
}

// TestHostsOfTenants: a request is made only if its tenant may have the host at that moment, whatever address the name
// has, and a redirect leads to no other.
func TestHostsOfTenants(t *testing.T) {
	var got atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got.Add(1); r.URL.Path == "/away" {
			http.Redirect(w, r, "http://evil.test"+r.Host[strings.LastIndexByte(r.Host, ':'):]+"/", http.StatusTemporaryRedirect)
		}
	})
	port := url[strings.LastIndexByte(url, ':'):]
	resolveAll(t, [4]byte{127, 0, 0, 1})
	openings := []string{"127.0.0.0/8" + port}
	allowed := new(allowance)
	d := start(t, Options{Targets: allowed.of}, "")
	for _, c := range []struct {
		hosts []string
		host  string
		want  string // "" is success
	}{
		{nil, "a.example.com", ""},
		{[]string{"*.example.com"}, "a.example.com", ""},
		{[]string{"*.example.com"}, "A.Example.com.", ""},
		{[]string{"*.example.com"}, "evil.test", "barred"},
		{[]string{"*.example.com"}, "127.0.0.1", "barred"},
		{[]string{"127.0.0.1"}, "127.0.0.1", ""},
		{[]string{"127.0.0.1"}, "[::ffff:127.0.0.1]", ""},
		{[]string{"127.0.0.1"}, "a.example.com", "barred"},
		{[]string{}, "a.example.com", "barred"},
		{[]string{"a.example.com"}, "a.example.com", ""},
	} {
		allowed.set(t, nil, c.hosts, openings)
		before := got.Load()
		o := testkit.Receive(t, launch(d, of("billing", deliveryTo(httpTarget("http://"+c.host+port+"/planted-path"), 0))))
		if c.want == "" && (o.Error != "" || got.Load() != before+1) || c.want != "" && (!isBarred(o) || got.Load() != before) {
			t.Errorf("%s with %q: outcome is %+v, requests %d", c.host, c.hosts, o, got.Load()-before)
		}
		if strings.Contains(o.Error, "planted") {
			t.Errorf("%s: the error has the path: %s", c.host, o.Error)
		}
	}
	// A name that is allowed leads to a network that is not open: only the dial knows, and the run ends in the same way.
	allowed.set(t, nil, []string{"*.example.com"}, nil)
	before := got.Load()
	if o := testkit.Receive(t, launch(d, of("billing", deliveryTo(httpTarget("http://a.example.com"+port), 0)))); !isBarred(o) || !strings.Contains(o.Error, "127.0.0.0/8") {
		t.Errorf("an allowed name with a closed address: %+v", o)
	}
	allowed.set(t, nil, []string{"*.example.com"}, openings)
	if o := testkit.Receive(t, launch(d, of("billing", deliveryTo(httpTarget("http://a.example.com"+port+"/away"), 0)))); !strings.Contains(o.Error, "HTTP 307") || got.Load() != before+1 {
		t.Errorf("a redirect: %+v, requests %d", o, got.Load()-before)
	}
	if st := d.Stats().ByKind[job.TargetHTTP]; st.Ended[EndedBarred] != 5 {
		t.Errorf("counts are %+v", st)
	}
}

// TestHostsInSecrets: the host of a URL in a secret is checked at the launch, and not named.
func TestHostsInSecrets(t *testing.T) {
	var got atomic.Int64
	url := serve(t, func(http.ResponseWriter, *http.Request) { got.Add(1) })
	port := url[strings.LastIndexByte(url, ':'):]
	resolveAll(t, [4]byte{127, 0, 0, 1})
	allowed, v := new(allowance), new(vault)
	d := start(t, Options{Targets: allowed.of, Secret: v.read}, "")
	hook := func() *job.Delivery {
		return of("billing", deliveryTo(job.Target{Kind: job.TargetHTTP, Method: "POST", URLSecret: "billing/url"}, 0))
	}
	allowed.set(t, nil, []string{"*.example.com"}, []string{"127.0.0.0/8" + port})
	v.set("billing/url", "http://planted.test"+port+"/planted")
	incomplete := hook()
	incomplete.SecretHeaders = []job.Pair{{Key: "X-A", Value: "billing/absent"}}
	for _, del := range []*job.Delivery{hook(), incomplete} {
		o := testkit.Receive(t, launch(d, del))
		if !isBarred(o) || !strings.Contains(o.Error, "billing/url") || !strings.Contains(o.Error, "*.example.com") || strings.Contains(o.Error, "planted") || got.Load() != 0 {
			t.Errorf("outcome is %+v", o)
		}
	}
	v.set("billing/url", "http://planted.example.com"+port+"/planted")
	if o := testkit.Receive(t, launch(d, hook())); o.Error != "" || got.Load() != 1 {
		t.Errorf("with a host that is allowed: %+v", o)
	}
}

// TestBarredBeforeItsSecrets: a target that is not allowed ends the run at once, also if a secret of it cannot be read now.
func TestBarredBeforeItsSecrets(t *testing.T) {
	var a allowance
	a.set(t, nil, []string{"hooks.example.com"}, nil)
	d := of("billing", deliveryTo(job.Target{Kind: job.TargetHTTP, Method: "POST", URL: "https://elsewhere.example.com/hook"}, 0))
	d.SecretHeaders = []job.Pair{{Key: "Authorization", Value: "billing/missing"}}
	if o := testkit.Receive(t, launch(start(t, Options{Targets: a.of}, ""), d)); !isBarred(o) {
		t.Errorf("%+v", o)
	}
}
