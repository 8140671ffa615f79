package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/api/apitest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/seal"
	"github.com/carillon-io/carillon/testkit"
)

const forwardSubject = "carillon.cluster.0.forward.default."

// askForwarded sends what a node would, and returns the reply; nil if none came.
func askForwarded(t *testing.T, nc *nats.Conn, verb, about, body string, more ...string) *nats.Msg {
	t.Helper()
	m := apitest.NewMsg(forwardSubject+verb, body)
	m.Header[forwardHeader] = append([]string{about}, more...)
	got, err := nc.RequestMsg(m, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// audited lists who did something, as the audit log has it.
func audited(t *testing.T, nc *nats.Conn) string {
	t.Helper()
	return string(apitest.Ask(t, nc, "carillon.v1.default.audit.list", "", nil))
}

// TestForwardedMessages sends what no node sends: nothing is carried out, and each refusal has a reason.
func TestForwardedMessages(t *testing.T) {
	_, url := startService(t, apitest.StartEngine(t), Options{Leads: func() bool { return true }}, 0)
	nc := apitest.Connect(t, url)
	job := apitest.JobWith("name", `"a"`)
	for _, about := range []string{
		"", "{", "[]", `{"from":"http"}`, `{"from":"local","timeout_ms":1000}`, `{"from":"http","timeout_ms":1000,"granted":true}`, `{"from":"nats","timeout_ms":1000,"granted":true,"principal":"ci"}`, `{"from":"nats","timeout_ms":1000,"page_bytes":-1}`, `{"from":"","timeout_ms":1000}`, `{"from":"http","timeout_ms":-1}`,
		`{"from":"http","timeout_ms":1000,"rank":"admin"}`, `{"from":"http","timeout_ms":1000,"from":"http"}`, `{"from":"http","timeout_ms":1e9999}`,
		`{"from":"http","timeout_ms":1000,"by":"` + strings.Repeat("x", 129) + `"}`, `{"from":"http","timeout_ms":1000,"by":"a\nb"}`,
		`{"from":"http","timeout_ms":1000,"host":"` + strings.Repeat("x", 65) + `"}`,
		`{"from":"http","timeout_ms":1000,"body_bytes":-1}`, `{"from":"http","timeout_ms":1000,"body_bytes":10}`, `{"from":"http","timeout_ms":1000,"body_bytes":99999999}`,
	} {
		got := askForwarded(t, nc, "jobs.put", about, job)
		var e client.ErrorReply
		if err := json.Unmarshal(got.Data, &e); err != nil || e.Error == nil || got.Header.Get("Nats-Service-Error-Code") == "" {
			t.Errorf("%s: %v %s", about, got.Header, got.Data)
		}
	}
	good := `{"from":"http","timeout_ms":1000,"by":"eve"}`
	if got := askForwarded(t, nc, "jobs.put", good, job, good); !strings.Contains(string(got.Data), "2 times") {
		t.Errorf("two headers: %s", got.Data)
	}
	// On the subjects of callers the header means nothing.
	m := apitest.NewMsg("carillon.v1.default.jobs.put", job)
	m.Header[forwardHeader] = []string{good}
	if _, err := nc.RequestMsg(m, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := audited(t, nc); strings.Count(got, `"action"`) != 1 || !strings.Contains(got, `"from":"nats"`) || strings.Contains(got, "eve") {
		t.Errorf("the audit log: %s", got)
	}
	// A verb of a later release gets no answer, so that its sender takes the leader for one that it cannot ask.
	if got, err := nc.Request(forwardSubject+"jobs.odd", nil, 50*time.Millisecond); err == nil {
		t.Errorf("an unknown verb: %s", got.Data)
	}
}

// TestForwardSeal lets another program send what a node would: without the key of the nodes nothing is carried out.
func TestForwardSeal(t *testing.T) {
	key := []byte("of the nodes")
	_, url := startService(t, apitest.StartEngine(t), Options{Leads: func() bool { return true }, ForwardKey: key}, 0)
	nc := apitest.Connect(t, url)
	about, job := `{"by":"eve","from":"http","timeout_ms":1000}`, apitest.JobWith("name", `"a"`)
	subject := forwardSubject + "jobs.put"
	for what, given := range map[string][]string{
		"none": nil, "an empty one": {""}, "of another key": {seal.Of([]byte("guessed"), seal.Forward, subject, []byte(about), []byte(job))},
		"of another tenant": {seal.Of(key, seal.Forward, strings.Replace(subject, "default", "acme", 1), []byte(about), []byte(job))},
		"of another caller": {seal.Of(key, seal.Forward, subject, []byte(strings.Replace(about, "eve", "bob", 1)), []byte(job))},
		"of another body":   {seal.Of(key, seal.Forward, subject, []byte(about), []byte(job+" "))},
		"two":               {seal.Of(key, seal.Forward, subject, []byte(about), []byte(job)), "x"},
	} {
		m := apitest.NewMsg(subject, job)
		m.Header[forwardHeader] = []string{about}
		m.Header[seal.Header] = given
		if got, err := nc.RequestMsg(m, 5*time.Second); err != nil || got.Header.Get("Nats-Service-Error-Code") != "403" {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	if got := audited(t, nc); strings.Contains(got, "eve") {
		t.Errorf("the audit log: %s", got)
	}
	m := apitest.NewMsg(subject, job)
	m.Header[forwardHeader], m.Header[seal.Header] = []string{about}, []string{seal.Of(key, seal.Forward, subject, []byte(about), []byte(job))}
	if got, err := nc.RequestMsg(m, 5*time.Second); err != nil || got.Header.Get(versionHeader) != "1" || got.Header.Get(createdHeader) != "jobs/a" {
		t.Errorf("the right one: %v, %v", got, err)
	}
}

// TestForwardedReplies gives a standby replies that no leader sends. The caller learns that the outcome is unknown.
func TestForwardedReplies(t *testing.T) {
	s, url := startService(t, apitest.StartEngine(t), Options{Standby: true}, 0)
	nc := apitest.Connect(t, url)
	reply := nats.NewMsg("")
	if _, err := nc.Subscribe(forwardSubject+">", func(m *nats.Msg) { _ = m.RespondMsg(reply) }); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		header nats.Header
		body   string
		code   client.Code
	}{
		{nats.Header{}, `{"stream":"ORDERS","seq":7}`, client.CodeUnavailable},
		{nats.Header{"Carillon-Reply": {"jobs.delete"}}, `{}`, client.CodeUnavailable},
		{nats.Header{"Carillon-Reply": {"jobs.get"}, "Nats-Service-Error-Code": {"404"}}, `{}`, client.CodeUnavailable},
		{nats.Header{"Carillon-Reply": {"jobs.get"}, "Nats-Service-Error-Code": {"200"}}, `{"error":{"code":"not_found","message":"x"}}`, client.CodeUnavailable},
		{nats.Header{"Carillon-Reply": {"jobs.get"}, "Nats-Service-Error-Code": {"404"}}, `{"error":{"code":"not_found","message":"x"}}`, client.CodeNotFound},
		{nats.Header{"Carillon-Reply": {"jobs.get"}, "Carillon-Version": {"x"}, "Carillon-Created-As": {"odd"}}, `{}`, ""},
	} {
		reply.Header, reply.Data = c.header, []byte(c.body)
		x := s.Executor()
		x.Enter()
		got, refusal := x.OverHTTP(t.Context(), VerbNamed("jobs.get"), c.header.Get, func() (Request, error) {
			return Request{Tenant: "default", Body: []byte(`{"name":"a"}`)}, nil
		})
		x.Leave()
		got.Release()
		if code := client.Code(""); refusal != nil && refusal.Code != c.code || refusal == nil && code != c.code {
			t.Errorf("%v %s: %v", c.header, c.body, refusal)
		}
	}
}

// TestForwardedParts announces bodies that never come: no more than a few keep a place, and the leader forgets them.
func TestForwardedParts(t *testing.T) {
	s, url := startService(t, apitest.StartEngine(t), Options{Leads: func() bool { return true }}, 0)
	nc := apitest.Connect(t, url)
	about := `{"from":"http","timeout_ms":2000,"body_bytes":5000000}`
	for range partsBodies * 3 / 4 { // what one tenant may have
		if got := askForwarded(t, nc, "jobs.put", about, ""); !strings.HasPrefix(got.Header.Get(partsHeader), "_INBOX.") {
			t.Fatalf("%v %s", got.Header, got.Data)
		}
	}
	if got := askForwarded(t, nc, "jobs.put", about, ""); !strings.Contains(string(got.Data), "rate_limited") {
		t.Errorf("one more: %s", got.Data)
	}
	other := apitest.NewMsg("carillon.cluster.0.forward.other.jobs.put", "")
	other.Header[forwardHeader] = []string{about}
	if got, err := nc.RequestMsg(other, 5*time.Second); err != nil || got.Header.Get(partsHeader) == "" {
		t.Errorf("a body of another tenant: %v %v", got, err)
	}
	// Requests that need no parts are carried out meanwhile.
	if got := askForwarded(t, nc, "jobs.put", `{"from":"http","timeout_ms":1000}`, apitest.JobWith("name", `"a"`)); got.Header.Get(createdHeader) != "jobs/a" {
		t.Errorf("%v %s", got.Header, got.Data)
	}
	testkit.Until(t, "the bodies are given up", func() bool { return s.bodies.taken() == 0 })
}

// FuzzForwarded reads any header as that of another node: what passes is within the bounds.
func FuzzForwarded(f *testing.F) {
	f.Add(`{"by":"alice","from":"http","host":"::1","timeout_ms":1000,"body_bytes":7}`)
	f.Add(`{"from":"dashboard","timeout_ms":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		about, err := readForwarded(&inbox.Request{Header: nats.Header{forwardHeader: {text}}})
		if err != nil {
			return
		}
		if !forwardFrom[about.From] || len(about.By) > 128 || about.TimeoutMS < 1 || about.TimeoutMS > forwardTimeMSMax || about.PageBytes < 0 || about.BodyBytes < 0 || about.BodyBytes > forwardBodyMax {
			t.Errorf("%q gave %+v", text, about)
		}
	})
}
