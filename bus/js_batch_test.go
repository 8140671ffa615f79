package bus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/testkit"
)

// takesBatches is the configuration of a stream with room for open batches.
const takesBatches = `{"name":"OLD","subjects":["old.*"],"retention":"limits","storage":"file","max_bytes":1048576,"num_replicas":1,"allow_atomic":true}`

// answerOf sends a message that JetStream answers, and returns the error in the answer; nil if there is none.
func answerOf(t *testing.T, nc *nats.Conn, m *nats.Msg) *server.ApiError {
	t.Helper()
	got, err := nc.RequestMsg(m, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var response server.ApiResponse
	if len(got.Data) > 0 && json.Unmarshal(got.Data, &response) != nil {
		t.Fatalf("answer %q", got.Data)
	}
	return response.Error
}

// inBatch returns a message of a batch.
func inBatch(batch string, n int) *nats.Msg {
	m := nats.NewMsg("old.x")
	m.Header.Set("Nats-Batch-Id", batch)
	m.Header.Set("Nats-Batch-Sequence", fmt.Sprint(n))
	m.Data = make([]byte, 1000)
	return m
}

// makeStreamBefore makes the stream of takesBatches in the store of a tenant, with a NATS server that refuses no stream.
func makeStreamBefore(t *testing.T, storeDir, tenant string) {
	t.Helper()
	so := &server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: storeDir, NoSigs: true, NoLog: true}
	if err := setAccounts(so, []Tenant{{Name: tenant, Storage: 16 << 20}}); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(so.Accounts, func(a *server.Account) bool { return a.Name == tenant })
	so.Users = []*server.User{{Username: "u", Password: "p", Account: so.Accounts[at]}}
	s, err := server.NewServer(so)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	nc, err := nats.Connect(s.ClientURL(), nats.UserInfo("u", "p"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if refusal := answerOf(t, nc, &nats.Msg{Subject: apiPrefix + "STREAM.CREATE.OLD", Data: []byte(takesBatches)}); refusal != nil {
		t.Fatal(refusal)
	}
}

// TestBatchesOfTenants: a tenant makes no stream that takes batches, which NATS keeps outside of every quota, and one that it
// has from an earlier release holds one message of one open batch.
func TestBatchesOfTenants(t *testing.T) {
	dir := t.TempDir()
	makeStreamBefore(t, dir, "a")
	nc := asTenant(t, openTenantsIn(t, dir, &testkit.Buffer{}, "a"), "manager of a")

	fresh := []byte(strings.ReplaceAll(takesBatches, "OLD", "NEW"))
	if refusal := answerOf(t, nc, &nats.Msg{Subject: apiPrefix + "STREAM.CREATE.NEW", Data: fresh}); refusal == nil || refusal.Code != 403 {
		t.Errorf("a stream that takes batches: %v; want 403", refusal)
	}
	if refusal := answerOf(t, nc, inBatch("first", 1)); refusal != nil {
		t.Errorf("the first message of a batch: %v", refusal)
	}
	if refusal := answerOf(t, nc, inBatch("second", 1)); refusal == nil {
		t.Error("a second batch is open beside the first")
	}
	last := inBatch("first", 2)
	last.Header.Set("Nats-Batch-Commit", "1")
	if refusal := answerOf(t, nc, last); refusal == nil {
		t.Error("a batch takes a second message")
	}
	if refusal := answerOf(t, nc, &nats.Msg{Subject: "old.x", Data: []byte("one")}); refusal != nil {
		t.Errorf("a message without a batch: %v", refusal)
	}
}
