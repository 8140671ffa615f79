package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/inbox"
	"github.com/carillon-io/carillon/replication"
)

// The roles of a server on its prefix besides those of the nodes of a cluster.
const (
	roleStarting = "starting" // asks whether the prefix is free
	roleAlone    = "alone"    // serves the prefix without a cluster
)

const (
	whoVersion = 1
	whoReply   = "cluster.who" // value of the reply header that marks an answer
	// Servers that answer take a round trip; the rest of the time is waited only if another server is there.
	whoTimeMax    = 500 * time.Millisecond // bound of the wait for answers
	whoAnswersMax = 64
	claimEvery    = 50 * time.Millisecond // between two questions while another server is starting too
	// The other server withdraws at its next try, so this is reached only if it stands still or has lost its connection.
	claimTimeMax = 5 * time.Second // how long the other server may take to withdraw
)

// who describes a server to others that would serve the same prefix. It is the question and the answer at once, as
// JSON. Fields may be added, and none is removed: a server of another release must still recognise a conflict.
type who struct {
	Version   int    `json:"version"`
	Process   string `json:"process"` // drawn at its start; that of an earlier start is less
	Role      string `json:"role"`
	Node      string `json:"node,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	ClusterID string `json:"cluster_id,omitempty"`
	Host      string `json:"host"`
	PID       int    `json:"pid"`
}

// conflicts reports whether two servers must not serve one prefix at the same time. Nodes of one cluster may. A node
// that has not met the cluster yet does not know the cluster's id. The relation is symmetric, so both servers come to
// the same verdict without a further message.
func (w who) conflicts(o who) bool {
	switch {
	case w.Process == o.Process:
		return false
	case w.Cluster == "" || w.Cluster != o.Cluster:
		return true
	}
	return w.ClusterID != "" && o.ClusterID != "" && w.ClusterID != o.ClusterID
}

// String describes the server so that an operator finds it.
func (w who) String() string {
	server := "a server without a cluster"
	if w.Cluster != "" {
		server = fmt.Sprintf("node %s of cluster %s (%s)", w.Node, w.Cluster, w.Role)
	}
	return fmt.Sprintf("%s on host %s, process %d", server, w.Host, w.PID)
}

// ErrPrefixServed is the error of a start if another server, or a cluster whose log is in NATS, serves the prefix.
var ErrPrefixServed = errors.New("the prefix is served already")

// servedBy returns the error for a prefix that another server serves.
func servedBy(prefix string, me, other who) error {
	instead := "stop that one, or start this one with another --prefix"
	switch {
	case me.Cluster != "" && other.Cluster != "":
		return fmt.Errorf("%w: %w: %s serves the prefix %q, whose stream carries the log of cluster %q, and this node is of %q; start it with --cluster-name %s, or with another --prefix",
			ErrPrefixServed, replication.ErrOtherCluster, other, prefix, other.Cluster, me.Cluster, other.Cluster)
	case other.Cluster != "":
		instead = fmt.Sprintf("to be a node of that cluster, start this one with --cluster-name %s; to serve jobs of its own, with another --prefix", other.Cluster)
	}
	return fmt.Errorf("%w: %s serves the prefix %q on this NATS, and with two, jobs fire twice; %s", ErrPrefixServed, other, prefix, instead)
}

// prefixClaim claims the prefix for this server: it answers the servers that ask about it, and asks them. Its methods
// are safe for concurrent use. There is no arbiter, because NATS without JetStream has none: each server asks after it
// has begun to answer, so of two that start together at least one hears of the other once NATS has passed their
// subscriptions on, and the identifiers of the processes decide which one withdraws.
type prefixClaim struct {
	conn    *nats.Conn // without echo, so that NATS reports at once when no other server is there
	subject string
	prefix  string
	// its role and the id of its cluster change, and are in state
	self who

	state claimState
}

// newPrefixClaim begins to answer, as a server that is starting. The subscription precedes the first question; in the
// other order two servers could both ask before either answers.
func newPrefixClaim(conn *nats.Conn, o Options) (*prefixClaim, error) {
	host, _ := os.Hostname() // a host without a name runs a process all the same
	c := &prefixClaim{conn: conn, prefix: o.Prefix, subject: replication.WhoSubject(o.Prefix, 0)}
	c.self = who{Version: whoVersion, Process: o.Process, Node: o.Node, Cluster: o.ClusterName, Host: host, PID: os.Getpid()}
	if _, err := inbox.NewDesk(conn, o.Inboxes, o.Logger).Subscribe(c.subject, c.answer); err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", c.subject, err)
	}
	return c, nil
}

// me returns the present description of this server.
func (c *prefixClaim) me() who {
	w := c.self
	w.Role, w.ClusterID = c.state.part(w.Cluster != "")
	return w
}

// answer replies which server serves the prefix. The question of a starting server describes that server: of
// two that start at the same time, the later one withdraws.
func (c *prefixClaim) answer(m *inbox.Request) {
	me := c.me()
	if asker, ok := readWho(m.Data, me.Process); ok && asker.Role == roleStarting && asker.conflicts(me) && asker.Process < me.Process {
		c.state.withdraw(asker)
	}
	if b, err := json.Marshal(me); err == nil {
		_ = m.Answer(whoReply, nil, b) // the asking server tries again
	}
}

// claim claims the prefix for this server, or returns ErrPrefixServed. A node may start beside a server that wrongly
// serves the prefix if another node of its cluster leads, because then this start does not change which server fires
// jobs. The flush makes sure that NATS knows the subscription before the question leaves. An answer of a server that
// serves already is final; one that is starting and will withdraw is asked again every claimEvery.
func (c *prefixClaim) claim(ctx context.Context) error {
	if err := c.conn.FlushTimeout(dialTimeMax); err != nil { // a server that asks from now on finds this one
		return fmt.Errorf("reach NATS: %w", err)
	}
	for end := time.Now().Add(claimTimeMax); ; {
		rival, wait, err := c.try(ctx)
		switch {
		case err != nil:
			return err
		case rival == nil:
			return nil
		case !wait || time.Now().After(end):
			return servedBy(c.prefix, c.me(), *rival)
		}
		select { // the other server knows that it must withdraw
		case <-time.After(claimEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// try claims the prefix, or returns the server that prevents it, and reports whether that one will withdraw. The final
// step is under the lock of the state: an earlier server that asked since the question left prevents the claim.
func (c *prefixClaim) try(ctx context.Context) (rival *who, wait bool, err error) {
	me, led := c.me(), false
	others, err := c.ask(ctx, func(o who) bool {
		led = led || !o.conflicts(me) && o.Role == replication.RoleLeader
		return led || me.Cluster == "" && o.Role != roleStarting
	})
	if err != nil {
		return nil, false, err
	}
	if other, found := strongest(me, others); found && !led {
		return &other, other.Role == roleStarting && other.Process > me.Process, nil
	}
	return c.state.claim(led), false, nil
}

// strongest returns the server among others that matters most: one that serves, else the earliest.
func strongest(me who, others []who) (rival who, found bool) {
	for _, o := range others {
		if !o.conflicts(me) {
			continue
		}
		if !found || rival.Role == roleStarting && (o.Role != roleStarting || o.Process < rival.Process) {
			rival, found = o, true
		}
	}
	return rival, found
}

// every returns the time between two questions. A question that NATS does not permit is asked rarely, because NATS
// logs each one. The client keeps its last error, so after one refusal the pace stays slow until another error or a
// new connection replaces it.
func (c *prefixClaim) every() time.Duration {
	if err := c.conn.LastError(); errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(strings.ToLower(err.Error()), strings.ToLower(c.subject)) {
		return aroundDenied
	}
	return aroundEvery
}

// others returns the servers on the prefix that are neither this one nor in its cluster.
func (c *prefixClaim) others(ctx context.Context) ([]who, error) {
	me := c.me()
	others, err := c.ask(ctx, func(who) bool { return false })
	return slices.DeleteFunc(others, func(o who) bool { return !o.conflicts(me) || o.Role == roleStarting }), err
}

// ask returns the servers that answer in time, or the first answers if one is enough. If there is no other
// server, NATS reports that at once.
func (c *prefixClaim) ask(ctx context.Context, enough func(who) bool) ([]who, error) {
	question, err := json.Marshal(c.me())
	if err != nil {
		return nil, err
	}
	reply := c.conn.NewInbox()
	sub, err := c.conn.SubscribeSync(reply)
	if err == nil {
		defer func() { _ = sub.Unsubscribe() }()
		err = c.conn.PublishRequest(c.subject, reply, question)
	}
	if err != nil {
		return nil, fmt.Errorf("ask who serves the prefix: %w", err)
	}
	asking, cancel := context.WithTimeout(ctx, whoTimeMax)
	defer cancel()
	return c.gather(asking, sub, enough), ctx.Err()
}

// gather returns the servers that answer until ctx ends. Answers are marked by a header, because any program may
// answer on a subject. An answer that cannot be read is skipped.
func (c *prefixClaim) gather(ctx context.Context, answers *nats.Subscription, enough func(who) bool) (others []who) {
	for len(others) < whoAnswersMax {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil || len(m.Data) == 0 && m.Header.Get("Status") == "503" {
			return others // the time is over, or NATS reports that no other server is there
		}
		if m.Header.Get(inbox.ReplyHeader) != whoReply {
			continue // for example from a stream that stores the question
		}
		if o, ok := readWho(m.Data, c.self.Process); ok {
			if others = append(others, o); enough(o) {
				return others
			}
		}
	}
	return others
}

// readWho decodes the description of another server. A later version of it has more fields, and still describes
// a server.
func readWho(data []byte, own string) (o who, ok bool) {
	err := json.Unmarshal(data, &o)
	return o, err == nil && o.Version >= whoVersion && o.Process != "" && o.Process != own
}
