package api

import (
	"encoding/base64"
	"encoding/json"
	"flag"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// outside makes TestBadInput speak to a server that runs already, with its default options.
var outside = flag.String("nats", "", "NATS URL of a running server for TestBadInput; default: one of its own")

// TestBadInput sends what must be refused. Each refusal names the code, the field and the status, has a
// text, and changes nothing.
func TestBadInput(t *testing.T) {
	url := *outside
	if url == "" {
		_, url = startService(t, startEngine(t), Options{}, 4<<20)
	}
	testBadInput(t, url, "carillon")
}

// badRequest is a request that must be refused.
type badRequest struct {
	name   string
	verb   string // with tenant, if not the default one: "tenant verb"
	body   string
	code   client.Code
	field  string
	status int
}

func testBadInput(t *testing.T, url, prefix string) {
	nc := connect(t, url)
	w := badWorld{nc: nc, c: newClient(t, url, client.Options{Prefix: prefix}), prefix: prefix}
	w.prepare(t)
	before := w.state(t)
	cases := badRequests()
	if len(cases) < 70 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, bad := range cases {
		t.Run(bad.name, func(t *testing.T) {
			w.refused(t, bad)
			if now := w.state(t); now != before {
				t.Errorf("something changed:\nbefore %s\nnow    %s", before, now)
			}
		})
	}
}

// badWorld is a server with two jobs.
type badWorld struct {
	nc     *nats.Conn
	c      *client.Client
	prefix string
	cursor string // of a list without filters
}

func (w *badWorld) prepare(t *testing.T) {
	for _, name := range []string{"bad-input-1", "bad-input-2"} {
		if _, _, err := w.c.Put(t.Context(), yearly(name)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = w.nc.Request(w.prefix+".v1.default.jobs.delete", []byte(`{"name":"`+name+`"}`), 5*time.Second)
		})
	}
	page, err := w.c.List(t.Context(), client.ListRequest{Limit: 1})
	if err != nil || page.NextCursor == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	w.cursor = page.NextCursor
	// The status follows a commit a moment later.
	for st, err := w.c.Status(t.Context()); st.Jobs < 2; st, err = w.c.Status(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// state is all that a refused request might have changed.
func (w *badWorld) state(t *testing.T) string {
	page, err := w.c.List(t.Context(), client.ListRequest{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	st, err := w.c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{page, st.LSN, st.Jobs, st.Armed, st.Live, st.Fired})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// refused sends a bad request and checks every part of its refusal.
func (w *badWorld) refused(t *testing.T, bad badRequest) {
	tenant, verb, found := strings.Cut(bad.verb, " ")
	if !found {
		tenant, verb = "default", bad.verb
	}
	body := strings.NewReplacer(
		"$CURSOR", w.cursor, "$CUT", w.cursor[:len(w.cursor)-1], "$TAMPERED", tamper(w.cursor), "$PREFIX", w.prefix,
	).Replace(bad.body)
	msg, err := w.nc.Request(w.prefix+".v1."+tenant+"."+verb, []byte(body), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Error *struct{ Code, Message, Field string }
	}
	if err := json.Unmarshal(msg.Data, &reply); err != nil || reply.Error == nil {
		t.Fatalf("the reply is no refusal: %s (%v)", msg.Data, err)
	}
	e := reply.Error
	if e.Code != string(bad.code) || e.Field != bad.field || len(e.Message) < 10 {
		t.Errorf("code %s, field %q, message %q; want %s on %q", e.Code, e.Field, e.Message, bad.code, bad.field)
	}
	if got := msg.Header.Get("Nats-Service-Error-Code"); got != strconv.Itoa(bad.status) {
		t.Errorf("status %s, want %d", got, bad.status)
	}
	if msg.Header.Get("Nats-Service-Error") == "" {
		t.Error("the header Nats-Service-Error is empty")
	}
}

// tamper changes one bit of the key of a cursor.
func tamper(cursor string) string {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "no base 64"
	}
	b[len(b)-1] ^= 1
	return base64.RawURLEncoding.EncodeToString(b)
}
