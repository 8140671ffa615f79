package bus

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// JetStream counts a server as a member until it is taken out, and keeps its replicas of streams there. A node that is gone
// for good would be a missing vote for ever, and a missing replica: the next one that dies could stop everything. Only the system
// account may take a server out, so this is asked through a server without JetStream, as in namesake.go.

const (
	// removeServer takes a server out of JetStream. The leader of the metadata answers before the other servers have agreed, so a
	// question for the members follows.
	removeServer = "$JS.API.SERVER.REMOVE"
	// removeTime bounds a request to take a server out, and memberTime a question for the members. The latter is short, because a
	// question gets no answer until the server that asks has a route to the others.
	removeTime, memberTime = 2 * time.Second, 250 * time.Millisecond
	systemAskEvery         = 50 * time.Millisecond // the pause before the next one
	// notMemberCode is the code of the answer that there is no such member.
	notMemberCode = 10044
)

var (
	errNoLeader    = errors.New("JetStream has no leader")
	errStillMember = errors.New("JetStream still counts it")
)

// ForgetMember takes the embedded server of a node that is gone for good out of JetStream, whose streams then get replicas on other
// servers. It returns nil when a majority of the servers has agreed, if the server is no member, and with servers of your own. It tries
// until ctx ends.
func (b *Bus) ForgetMember(ctx context.Context, node string) error {
	if b.embedded == nil || !b.opts.clustered() {
		return nil
	}
	if b.IsConnected(node) {
		return fmt.Errorf("the NATS server of node %s is connected", node)
	}
	err := b.askSystem(ctx, func(nc *nats.Conn) error {
		if err := askToForget(ctx, nc, node); err != nil {
			return err
		}
		is, err := askForMember(ctx, nc, node)
		if is {
			err = errStillMember
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("ask NATS to forget node %s: %w", node, err)
	}
	return nil
}

// IsMember reports whether JetStream counts the embedded server of a node, which may be gone or connected. It is false with servers of
// your own. An error means that JetStream has not answered before ctx ended.
func (b *Bus) IsMember(ctx context.Context, node string) (is bool, err error) {
	if b.embedded == nil || !b.opts.clustered() {
		return false, nil
	}
	err = b.askSystem(ctx, func(nc *nats.Conn) (err error) {
		is, err = askForMember(ctx, nc, node)
		return err
	})
	return is, err
}

// askSystem lets ask use a connection in the system account, again and again until it returns nil or ctx ends: the subjects of that
// account are not known to a server that has just come.
func (b *Bus) askSystem(ctx context.Context, ask func(*nats.Conn) error) error {
	asker, only, err := b.opts.startAsker()
	if err != nil {
		return err
	}
	defer func() {
		asker.Shutdown()
		asker.WaitForShutdown()
	}()
	nc, err := nats.Connect("", nats.InProcessServer(asker), nats.UserInfo(guardUser, only.secret))
	if err != nil {
		return err
	}
	defer nc.Close()
	for {
		if err = ask(nc); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(systemAskEvery):
		}
	}
}

// askForMember asks the leader of the metadata of JetStream once. It alone knows the members.
func askForMember(ctx context.Context, nc *nats.Conn, node string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, memberTime)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, pingServers, []byte(`{"leader_only":true}`))
	if err != nil {
		return false, err
	}
	var answer struct {
		Data server.JSInfo `json:"data"`
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return false, err
	}
	meta := answer.Data.Meta
	if meta == nil {
		return false, errNoLeader
	}
	isIt := func(p *server.PeerInfo) bool { return p.Peer == peerID(node) }
	return meta.Leader == node || slices.ContainsFunc(meta.Replicas, isIt), nil
}

// askToForget asks once. The member is named by its identifier, because servers that have started since do not know the name.
func askToForget(ctx context.Context, nc *nats.Conn, node string) error {
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	body, err := json.Marshal(server.JSApiMetaServerRemoveRequest{Server: node, Peer: peerID(node)})
	if err != nil {
		return err
	}
	m, err := nc.RequestWithContext(ctx, removeServer, body)
	if err != nil {
		return err
	}
	var answer server.JSApiMetaServerRemoveResponse
	switch err := json.Unmarshal(m.Data, &answer); {
	case err != nil:
		return err
	case answer.Error != nil && answer.Error.ErrCode != notMemberCode:
		return errors.New(answer.Error.Description)
	}
	return nil
}

// IsConnected reports whether the embedded server has a route to that of a node, which may be a witness. It is false with servers of your
// own.
func (b *Bus) IsConnected(node string) bool {
	if b.embedded == nil {
		return false
	}
	if b.embedded.Name() == node {
		return true
	}
	routes, err := b.embedded.Routez(nil)
	if err != nil {
		return true // it is not known to be away
	}
	for _, r := range routes.Routes {
		if r.RemoteName == node {
			return true
		}
	}
	return false
}

// peerID returns by what JetStream identifies the server of a name: the first eight bytes of the SHA-256 of the name, each as one of 62
// characters, as getHashSize of nats-server has it. A test compares it with that of a server.
func peerID(name string) string {
	const digits, size = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 8
	sum := sha256.Sum256([]byte(name))
	id := make([]byte, size)
	for i := range id {
		id[i] = digits[int(sum[i])%len(digits)]
	}
	return string(id)
}
