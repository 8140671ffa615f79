package replication

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/inbox"
)

// TestHandoverOfNoLeader: a node that has the lease, and begins to lead, refuses a request to hand over at once. One that follows is
// silent, because the leader answers.
func TestHandoverOfNoLeader(t *testing.T) {
	nc, err := nats.Connect(bustest.RunWith(t, &server.Options{}).ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	n := &Node{opts: Options{Node: "a", Boot: func() time.Duration { return time.Hour }}}
	if _, err := inbox.NewDesk(nc, nil, quiet).Subscribe("handover", n.answerHandover); err != nil {
		t.Fatal(err)
	}
	n.publishStatus(RoleCandidate)
	m, err := nc.Request("handover", nil, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if r := (HandoverReply{}); json.Unmarshal(m.Data, &r) != nil || r.From != "a" || r.Code != string(apierr.Unavailable) {
		t.Errorf("a node that begins to lead: %s", m.Data)
	}
	n.publishStatus(RoleStandby)
	if m, err := nc.Request("handover", nil, 100*time.Millisecond); !errors.Is(err, nats.ErrTimeout) {
		t.Errorf("a standby: %v, %v", m, err)
	}
}
