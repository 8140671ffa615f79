package apitest

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
)

// BadRequest is a request that must be refused. The same list is sent over NATS and over HTTP, so every way in must
// refuse each of them in the same way.
type BadRequest struct {
	// Name is that of the subtest, and by it tests of HTTP name what a URL cannot say.
	Name string
	Verb string // with tenant, if not the default one: "tenant verb"
	Body string
	// Code, Field and Status are the whole refusal that callers may rely on.
	Code client.Code
	// Field is the member that the error must name; "" for an error of the request as a whole.
	Field  string
	Status int
}

// BadWorld is a server with two jobs. The tests compare its state before and after: a request that is refused must
// have changed nothing.
type BadWorld struct {
	// Conn sends requests as bytes, because the client could not send most of the bad ones.
	Conn   *nats.Conn
	Client *client.Client
	// Prefix is that of the server's subjects.
	Prefix string
	Cursor string // of a list without filters
}

// Prepare registers the two jobs, which are deleted when the test ends.
func (w *BadWorld) Prepare(t *testing.T) {
	for _, name := range []string{"bad-input-1", "bad-input-2"} {
		if _, _, err := w.Client.Put(t.Context(), Yearly(name)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = w.Conn.Request(w.Prefix+".v1.default.jobs.delete", []byte(`{"name":"`+name+`"}`), 5*time.Second)
		})
	}
	page, err := w.Client.List(t.Context(), client.ListRequest{Limit: 1})
	if err != nil || page.NextCursor == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	w.Cursor = page.NextCursor
	// The status follows a commit a moment later.
	for st, err := w.Client.Status(t.Context()); st.Jobs < 2; st, err = w.Client.Status(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// State is all that a refused request might have changed. It has the LSN, so that a commit without a visible effect
// is noticed too.
func (w *BadWorld) State(t *testing.T) string {
	page, err := w.Client.List(t.Context(), client.ListRequest{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	st, err := w.Client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal([]any{page, st.LSN, st.Jobs, st.Armed, st.Live, st.Fired})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Refused sends a bad request and checks every part of its refusal. A body may contain $CURSOR, $CUT, $TAMPERED and
// $PREFIX, which depend on the server. The texts of messages are not compared, only their length: they may be
// improved, while code, field and status are the contract.
func (w *BadWorld) Refused(t *testing.T, bad BadRequest) {
	tenant, verb, found := strings.Cut(bad.Verb, " ")
	if !found {
		tenant, verb = "default", bad.Verb
	}
	body := strings.NewReplacer(
		"$CURSOR", w.Cursor, "$CUT", w.Cursor[:len(w.Cursor)-1], "$TAMPERED", Tamper(w.Cursor), "$PREFIX", w.Prefix,
	).Replace(bad.Body)
	msg, err := w.Conn.Request(w.Prefix+".v1."+tenant+"."+verb, []byte(body), 10*time.Second)
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
	if e.Code != string(bad.Code) || e.Field != bad.Field || len(e.Message) < 10 {
		t.Errorf("code %s, field %q, message %q; want %s on %q", e.Code, e.Field, e.Message, bad.Code, bad.Field)
	}
	if got := msg.Header.Get("Nats-Service-Error-Code"); got != strconv.Itoa(bad.Status) {
		t.Errorf("status %s, want %d", got, bad.Status)
	}
	// Clients that know only the service protocol of NATS recognise an error by this header.
	if msg.Header.Get("Nats-Service-Error") == "" {
		t.Error("the header Nats-Service-Error is empty")
	}
}

// Tamper changes one bit of the key of a cursor. The sum of the cursor must detect it, whichever bit it is.
func Tamper(cursor string) string {
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "no base 64"
	}
	b[len(b)-1] ^= 1
	return base64.RawURLEncoding.EncodeToString(b)
}
