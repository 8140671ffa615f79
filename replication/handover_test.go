package replication

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/apierr"
	"github.com/carillon-io/carillon/job"
)

// slowLocal is an engine each commit of which takes a while. Its log is empty.
type slowLocal struct {
	Local
	commit, rest time.Duration
	resumed      bool
}

func (l *slowLocal) Last() job.Position                { return job.Position{} }
func (l *slowLocal) Hold(context.Context)              {}
func (l *slowLocal) Confirm(ctx context.Context) error { return passes(ctx, l.commit) }
func (l *slowLocal) Rest(ctx context.Context) error    { return passes(ctx, l.rest) }
func (l *slowLocal) Continue() error                   { l.resumed = true; return nil }

// passes waits, and fails if ctx ends before.
func passes(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// TestPauseOfSlowCommits: a leader hands over where each commit takes some hundred milliseconds, and leads on where the log
// stands still, as during an election.
func TestPauseOfSlowCommits(t *testing.T) {
	for name, c := range map[string]struct {
		commit, rest time.Duration
		over         bool
		launches     time.Duration // that the hand-over may cost
		placed       time.Duration // how long the last commit took in the stream
	}{
		"quick":                     {time.Millisecond, time.Millisecond, true, 10 * time.Millisecond, 0},
		"slow":                      {600 * time.Millisecond, 900 * time.Millisecond, true, 900 * time.Millisecond, 0},
		"an election":               {5 * time.Second, 5 * time.Second, false, 0, 0},
		"an election begins in it":  {time.Millisecond, 5 * time.Second, false, restTime, 0},
		"an election, slow commits": {600 * time.Millisecond, 5 * time.Second, false, 1200 * time.Millisecond, 0},
		"slow links":                {1600 * time.Millisecond, 1800 * time.Millisecond, true, 1800 * time.Millisecond, 450 * time.Millisecond},
		"an election, slow links":   {5 * time.Second, 5 * time.Second, false, 0, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				local := &slowLocal{commit: c.commit, rest: c.rest}
				n := &Node{opts: Options{Boot: func() time.Duration { return time.Since(began) }, Logger: quiet}, local: local}
				n.leadership.ctx = t.Context()
				n.placedIn.Store(int64(c.placed))
				err := n.pause(t.Context())
				if still := (*stillError)(nil); (err == nil) != c.over || err != nil && !errors.As(err, &still) {
					t.Fatalf("the hand-over begins: %v; want %v (%v)", err == nil, c.over, err)
				}
				if cost := time.Since(began) - min(c.commit, n.prompt()); cost > c.launches {
					t.Errorf("launches paused for %s, want at most %s", cost, c.launches)
				}
				if err != nil && c.launches > 0 && !local.resumed {
					t.Error("launches do not go on")
				}
			})
		})
	}
}

// TestWaitingHandoverEndsWithItsLeadership: a request to hand over that waits behind another one is refused when that one has
// taken place. It is not kept for the next leadership of this node, which it would end for nobody.
func TestWaitingHandoverEndsWithItsLeadership(t *testing.T) {
	var w handovers
	refused := 0
	ask := func() error { return w.ask(handover{reply: func(_ string, err error) { refused++ }}) }
	if err := ask(); err == nil {
		t.Error("a node that does not lead has taken a request")
	}
	w.end() // as a node that could not begin
	for range 3 {
		waiting := w.begin()
		if first, second := ask(), ask(); first != nil || !errors.Is(second, errHandsOver) {
			t.Errorf("the first: %v, the second: %v", first, second)
		}
		(<-waiting).reply("b", nil)
		if err := ask(); err != nil {
			t.Error(err)
		}
		refused = 0
		w.end()
		if err := ask(); refused != 1 || refusalCode(err) != apierr.Unavailable || err == nil || len(waiting) != 0 {
			t.Errorf("%d are refused, %d wait, and one more: %v", refused, len(waiting), err)
		}
	}
}

// TestHandoverRequests: a request that does not say to whom is for any standby. One whose name is empty, or with a member that
// there is not, may have meant a node.
func TestHandoverRequests(t *testing.T) {
	for data, want := range map[string]string{
		``: "", `{}`: "", `{"to":"b"}`: "b", `{"to":"b","own":true}`: "b",
		`{"to":""}`: "refused", `{"too":"b"}`: "refused", `{"to":"b"} {}`: "refused", `{"to":7}`: "refused", `b`: "refused",
		`null`: "refused", `{"to":null}`: "refused", `{"to":"a","to":"b"}`: "refused", `{"To":"b"}`: "refused", `[]`: "refused",
	} {
		got, err := new(handoverRequest).read([]byte(data))
		if err != nil {
			got = "refused"
		}
		if got != want {
			t.Errorf("%s: %q, %v; want %q", data, got, err, want)
		}
	}
}

// TestPlaceRequests: a request has the members of its verb, each once.
func TestPlaceRequests(t *testing.T) {
	for data, want := range map[string]string{
		`{"verb":"drain","node":"a"}`: "", `{"verb":"move","shard":2,"to":"a"}`: "",
		`{"verb":"drain","node":"a","shard":1}`: "shard", `{"verb":"remove","node":"a","to":"b"}`: "to", `{"verb":"move","shard":1,"node":"a"}`: "node",
		`{"verb":"drain","node":"a","node":"b"}`: "duplicate", `{"verb":"drain","node":null}`: "null", `{"verb":"drain","nodes":"a"}`: "nodes", ``: "object",
	} {
		err := new(PlaceRequest).read([]byte(data))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nothing has changed")) {
			t.Errorf("%s: %v; want %q", data, err, want)
		}
	}
}

// TestSuccessorThatDrains: nobody hands over to a node that drains, unless there is no other; an operator who names it is told so.
func TestSuccessorThatDrains(t *testing.T) {
	n := &Node{opts: Options{Node: "a", Boot: func() time.Duration { return time.Hour }}, local: &slowLocal{}, peers: newPeers("a"), host: &Host{places: newPlaces("cluster", 2)}}
	n.host.places.drains["b"] = drainSeen{value: drainValue{Drains: true}}
	hear := func(node string, lsn uint64) {
		n.peers.heard(beat{Version: beatVersion, Node: node, Role: RoleStandby, LSN: lsn}, time.Hour)
	}
	hear("b", 9)
	if to, err := n.successor(""); to != "b" || err != nil {
		t.Errorf("the only standby: %q, %v", to, err)
	}
	hear("c", 5)
	if to, err := n.successor(""); to != "c" || err != nil {
		t.Errorf("beside one that does not drain: %q, %v", to, err)
	}
	if _, err := n.liveSuccessor(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "node b drains") {
		t.Errorf("by its name: %v", err)
	}
}

// TestToldToLead: a node takes no lease while it hears one with commits of a later epoch, unless an operator has said that it leads.
func TestToldToLead(t *testing.T) {
	for _, told := range []bool{false, true} {
		n := &Node{opts: Options{Node: "a", LeadAlone: told}, local: &slowLocal{}, peers: newPeers("a")}
		n.peers.heard(beat{Version: beatVersion, Node: "b", Role: RoleStandby, Epoch: n.local.Last().Epoch + 1}, time.Hour)
		if waits := n.isBehindAnEpoch(time.Hour); waits == told {
			t.Errorf("told to lead: %t; it waits for the other one: %t", told, waits)
		}
		if waits := n.isBehindAnEpoch(time.Hour + beatFresh); waits {
			t.Error("it waits for a node that is silent")
		}
	}
}

// TestRefusalsOfHandoversThatPass: a refusal that passes by itself says so, and any other one does not.
func TestRefusalsOfHandoversThatPass(t *testing.T) {
	for _, err := range []error{errHandsOver, errLedBefore, ErrDeposed, fmt.Errorf("pause: %w", ErrDeposed), &stillError{}} {
		if refusalCode(err) != apierr.Unavailable {
			t.Errorf("%v stays", err)
		}
	}
	if code := refusalCode(localError{errors.New("the disk")}); code != "" {
		t.Errorf("a failure of the disk: %s", code)
	}
	n := &Node{opts: Options{Node: "a", Boot: func() time.Duration { return time.Hour }}, local: &slowLocal{}, peers: newPeers("a")}
	hear := func(node, role string, at time.Duration) {
		n.peers.heard(beat{Version: beatVersion, Node: node, Role: role}, at)
	}
	hear("a", RoleLeader, time.Hour)
	hear("joins", RoleJoining, time.Hour)
	hear("leads", RoleLeader, time.Hour)
	hear("gone", RoleStandby, time.Hour-beatFresh)
	for name, want := range map[string]apierr.Code{"joins": apierr.Unavailable, "leads": apierr.Unavailable, "": apierr.Unavailable, "gone": "", "nobody": "", "a": ""} {
		if _, err := n.liveSuccessor(t.Context(), name); err == nil || refusalCode(err) != want {
			t.Errorf("%q: %v; code %q, want %q", name, err, refusalCode(err), want)
		}
	}
	n.peers.forget("joins")
	n.peers.forget("leads")
	if _, err := n.liveSuccessor(t.Context(), ""); err == nil || refusalCode(err) != "" {
		t.Errorf("without another node: %v", err)
	}
}
