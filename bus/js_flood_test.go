package bus

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// The flood: more requests than the line of the NATS server holds, which is 10,000 for all accounts.
const jsFlood = 20_000

// answered returns how many requests to JetStream the server has answered, those of all accounts together.
func answered(t *testing.T, b *Bus) int {
	t.Helper()
	jsz, err := b.embedded.Jsz(nil)
	if err != nil {
		t.Fatal(err)
	}
	return int(jsz.API.Total)
}

// ask sends a request to JetStream, and returns how many requests the server has answered until it had the answer.
func ask(t *testing.T, b *Bus, nc *nats.Conn, what string) (before int) {
	t.Helper()
	before = answered(t, b)
	m, err := nc.Request(apiPrefix+what, nil, 20*time.Second)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var response server.ApiResponse
	if err := json.Unmarshal(m.Data, &response); err != nil || response.Error != nil {
		t.Fatalf("%s: %s, %v", what, m.Data, err)
	}
	return answered(t, b) - before
}

// TestRequestsOfOneTenantDelayNoOther: while the requests of a tenant wait by the ten thousand, JetStream answers Carillon
// and another tenant before it has got through them, and the guard refuses or drops what is too much. It counts answers, and no time.
func TestRequestsOfOneTenantDelayNoOther(t *testing.T) {
	b := openTenants(t, &testkit.Buffer{}, "loud", "quiet")
	loud, quiet := asTenant(t, b, "loud"), asTenant(t, b, "quiet")
	answers := make(chan *nats.Msg, jsFlood)
	if _, err := loud.ChanSubscribe("_INBOX.loud", answers); err != nil {
		t.Fatal(err)
	}
	for range jsFlood {
		if err := loud.PublishRequest(apiPrefix+"STREAM.LIST", "_INBOX.loud", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := loud.FlushTimeout(20 * time.Second); err != nil { // the server has all of them
		t.Fatal(err)
	}
	for _, what := range []string{"INFO", "STREAM.NAMES"} {
		if n := ask(t, b, b.api, what); n > 200 {
			t.Errorf("the server answered %d requests before %s of Carillon's own account; want at most those that a tenant may have there", n, what)
		}
	}
	if n := ask(t, b, quiet, "STREAM.NAMES"); n > 3000 {
		t.Errorf("the server answered %d requests before that of another tenant; want at most those that a tenant may send at once, and have wait", n)
	}
	dropped := func() int { c, _ := b.Guarded(); return int(c.Refused["dropped"]) }
	testkit.Until(t, "the requests are answered or dropped", func() bool { return len(answers)+dropped() == jsFlood })
	passed := 0
	for range len(answers) {
		var response server.ApiResponse
		if err := json.Unmarshal((<-answers).Data, &response); err != nil {
			t.Fatal(err)
		}
		switch {
		case response.Error == nil:
			passed++
		case response.Error.Code != 429 || response.Type != server.JSApiStreamListResponseType:
			t.Fatalf("%s %+v; want 429", response.Type, response.Error)
		}
	}
	if passed == 0 || passed == jsFlood {
		t.Errorf("%d of %d requests passed; want a part of them", passed, jsFlood)
	}
}
