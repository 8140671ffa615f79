package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// How the settings of servers are requested. Only the system account may ask, or an account that imports this
// service from it; other accounts receive no answer.
const (
	pingServers = "$SYS.REQ.SERVER.PING.JSZ"
	// The number of servers is unknown, so the wait always lasts this long, unless all pingAnswersMax have answered; a
	// start pays it once.
	pingTimeMax = 500 * time.Millisecond
	// A bound for the memory that answers can take, far above the servers of a real cluster.
	pingAnswersMax = 64
)

// facts gathers what can be known about the servers. NATS may refuse these requests, so nc must be a connection on
// which such a refusal is not reported as another request's error. No answer is no error: most accounts may not ask.
func (b *Bus) facts(ctx context.Context, nc *nats.Conn) (Facts, error) {
	if b.embedded != nil {
		return b.ownFacts(), nil
	}
	f := Facts{NATSSyncs: b.opts.NATSSyncs, PayloadMax: nc.MaxPayload(), Clustered: nc.ConnectedClusterName() != ""}
	answers, err := askServers(ctx, nc)
	if err != nil {
		return Facts{}, err
	}
	f.evaluate(answers, serverFacts{Name: nc.ConnectedServerName(), Version: nc.ConnectedServerVersion()})
	return f, nil
}

// ownFacts returns what is known with an embedded server; its peers have the same settings.
func (b *Bus) ownFacts() Facts {
	_, size := b.members()
	return Facts{
		Servers: []serverFacts{{Name: b.embedded.Name(), Version: server.VERSION, Sync: syncAlways}},
		Members: size, Clustered: b.opts.clustered(), PayloadMax: maxPayload,
	}
}

// serverAnswer is the relevant part of a server's answer about its JetStream. The pointers distinguish what is missing
// from what is zero: a server without Data reported an error, one without Meta is not clustered.
type serverAnswer struct {
	Server struct {
		Name    string `json:"name"`
		Version string `json:"ver"`
	} `json:"server"`
	Data *struct {
		Disabled bool `json:"disabled"`
		Config   struct {
			SyncAlways bool `json:"sync_always"`
		} `json:"config"`
		Meta *struct {
			Size int `json:"cluster_size"`
		} `json:"meta_cluster"`
	} `json:"data"`
}

// evaluate evaluates the answers. Without any, only the server of the connection is known. The number of members is
// the larger one of the servers that answered and the size that JetStream itself knows: a server that is down does not
// answer, and is a member still. It sets Servers and Members only.
func (f *Facts) evaluate(answers []serverAnswer, connected serverFacts) {
	known := map[string]serverFacts{connected.Name: connected}
	members := 0
	for _, a := range answers {
		if a.Data == nil {
			continue
		}
		if a.Data.Disabled { // it stores nothing, so its settings are irrelevant
			delete(known, a.Server.Name)
			continue
		}
		s := serverFacts{Name: a.Server.Name, Version: a.Server.Version, Sync: syncLate}
		if a.Data.Config.SyncAlways {
			s.Sync = syncAlways
		}
		known[s.Name] = s
		members++
		if a.Data.Meta != nil {
			f.Members = max(f.Members, a.Data.Meta.Size)
		}
	}
	f.Members = max(f.Members, members)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		f.Servers = append(f.Servers, known[name])
	}
}

// askServers asks all servers and returns the answers that arrive in time; none if this account may not ask.
func askServers(ctx context.Context, nc *nats.Conn) ([]serverAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, pingTimeMax)
	defer cancel()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err == nil {
		err = nc.PublishRequest(pingServers, inbox, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("ask NATS for its settings: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	var answers []serverAnswer
	for len(answers) < pingAnswersMax {
		m, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			break // the time is over, or no server may answer
		}
		var a serverAnswer
		if json.Unmarshal(m.Data, &a) == nil && a.Server.Name != "" {
			answers = append(answers, a)
		}
	}
	return answers, nil
}
