package server_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/testkit"
)

// archive is a snapshot of a stream as JetStream hands it out.
type archive struct {
	description struct {
		Config json.RawMessage `json:"config"`
		State  json.RawMessage `json:"state"`
	}
	parts [][]byte
}

// snapshotOf takes a snapshot of a stream.
func snapshotOf(t *testing.T, nc *nats.Conn, stream string) (a archive) {
	t.Helper()
	inbox := nc.NewRespInbox()
	parts := listen(t, nc, inbox)
	m, err := nc.Request("$JS.API.STREAM.SNAPSHOT."+stream, []byte(`{"deliver_subject":"`+inbox+`"}`), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(m.Data, &a.description); err != nil || a.description.Config == nil {
		t.Fatalf("the snapshot begins with %s, %v", m.Data, err)
	}
	for {
		part := testkit.Receive(t, parts)
		if len(part.Data) == 0 {
			return a
		}
		a.parts = append(a.parts, part.Data)
		if part.Reply != "" {
			if err := part.Respond(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// restore restores a stream, and returns the answer to the last step that was taken.
func (a archive) restore(t *testing.T, nc *nats.Conn, stream string) string {
	t.Helper()
	ask := func(subject string, body []byte) string {
		m, err := nc.Request(subject, body, 5*time.Second)
		if err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
		return string(m.Data)
	}
	body, err := json.Marshal(a.description)
	if err != nil {
		t.Fatal(err)
	}
	answer := ask("$JS.API.STREAM.RESTORE."+stream, body)
	var to struct {
		Subject string `json:"deliver_subject"`
	}
	if err := json.Unmarshal([]byte(answer), &to); err != nil || to.Subject == "" {
		return answer
	}
	for _, part := range append(a.parts, nil) {
		answer = ask(to.Subject, part)
	}
	return answer
}

// TestRestoreIsForAdminsOfAll: a snapshot brings streams and consumers that nothing checks, so an admin of one tenant cannot
// restore what it may take. An admin of all tenants restores the same snapshot with its messages, and no other client
// reaches the subjects of the parts.
func TestRestoreIsForAdminsOfAll(t *testing.T) {
	t.Parallel()
	e := startEstate(t, nil)
	admin := e.as("billing-admin")
	js := jetStreamAs(t, admin)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}, MaxBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := js.Publish(t.Context(), "s", []byte("kept")); err != nil {
			t.Fatal(err)
		}
	}
	taken := snapshotOf(t, admin, "S")
	if err := js.DeleteStream(t.Context(), "S"); err != nil {
		t.Fatal(err)
	}
	if answer := taken.restore(t, admin, "S"); !strings.Contains(answer, `"code":403`) {
		t.Errorf("an admin of the tenant restores its snapshot: %s", answer)
	}
	if _, err := js.Stream(t.Context(), "S"); err == nil {
		t.Fatal("the refused restore left a stream")
	}
	refused := make(chan error, 1)
	knocking := e.as("billing-admin", nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err := knocking.Publish("$JS.SNAPSHOT.RESTORE.S.x", nil); err != nil {
		t.Fatal(err)
	}
	if err := testkit.Receive(t, refused); !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
		t.Errorf("a part from an admin of the tenant: %v", err)
	}
	governor, err := nats.Connect(e.Ready().NATS, nats.UserInfo("billing", "cluster"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(governor.Close)
	if answer := taken.restore(t, governor, "S"); !strings.Contains(answer, "stream_create_response") || strings.Contains(answer, `"error"`) {
		t.Fatalf("an admin of all tenants restores: %s", answer)
	}
	stream, err := js.Stream(t.Context(), "S")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := stream.Info(t.Context()); err != nil || info.State.Msgs != 3 {
		t.Errorf("the restored stream: %+v, %v; want 3 messages", info, err)
	}
}
