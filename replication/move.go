package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Each stream has a leader among the NATS servers. When that server dies, the stream is not served for the time
// of an election: 4 to 9 s. So the leader of the cluster moves the leadership of its streams away from the
// server that would die with it, to the witness if there is one.

// seat identifies a stream whose leadership can be moved. mu is held during a move and during each write: a
// write in flight during a move would be lost without a reply.
type seat struct {
	mu   sync.Mutex
	name string
}

const (
	ownEvery   = time.Second            // between two looks at what the own server knows of the leaders; it is in this process, so that costs no request
	seatsEvery = 2 * time.Second        // between two requests for a stream whose leader the own server does not know
	placeEvery = 10 * time.Second       // between two requests for a stream whose leader is on the server of another node
	moveTime   = time.Second            // bound of one move
	moveRest   = time.Second            // pause after a failed move
	seatTime   = 100 * time.Millisecond // bound of one check for the new leader
)

// keepSeats keeps the leaderships of both streams, of the log and of the lease, on servers that outlive this
// node, until ctx ends. While the epoch begins it moves nothing, because a move delays the writes on which the
// takeover waits. It asks NATS only about a stream whose leader may have a better place.
func (n *Node) keepSeats(ctx context.Context) {
	if n.opts.Leaders == nil || n.bucket == nil {
		return
	}
	asked := make(map[*seat]seatAsked)
	for range ticks(ctx, ownEvery) {
		if n.leadership.starting.Load() {
			continue
		}
		for _, s := range n.seats() {
			now, leader := n.opts.Boot(), n.host.leaderOfStream(s.name)
			if !n.mayMove(leader, asked[s], now) {
				continue
			}
			asked[s] = seatAsked{leader, now}
			if err := n.reseat(ctx, s); err != nil && ctx.Err() == nil {
				n.warn("the leadership of a stream was not moved away; trying again", err)
				asked[s] = seatAsked{leader, n.opts.Boot() + moveRest}
			}
		}
	}
}

// seatAsked is when NATS was asked about a stream last, and which server led it then, as far as the own server knew.
type seatAsked struct {
	leader string
	at     time.Duration
}

// mayMove reports whether it is time to ask whether a better server than its leader could lead a stream: at once if the leader is
// another one than when that was asked last, and never while it is on a server that dies with no node.
func (n *Node) mayMove(leader string, last seatAsked, now time.Duration) bool {
	every := placeEvery
	switch {
	case leader == n.opts.Server || leader != last.leader && now >= last.at:
		every = 0
	case leader == "":
		every = seatsEvery
	}
	return n.rank(leader) < rankBest && (last.at == 0 || now-last.at >= every)
}

// leaderOfStream returns the server that leads a stream, as the own server knows it; "" if it does not. The members share one
// look.
func (h *Host) leaderOfStream(stream string) string {
	h.seats.mu.Lock()
	defer h.seats.mu.Unlock()
	if now := h.opts.Boot(); h.seats.leaders == nil || now-h.seats.looked >= ownEvery/2 {
		h.seats.leaders, h.seats.looked = h.opts.Leaders(), now
	}
	return h.seats.leaders[stream]
}

// seatsSeen is what the own server knew of the leaders of all streams when a member asked last.
type seatsSeen struct {
	mu      sync.Mutex
	leaders map[string]string
	looked  time.Duration
}

// seats returns those two streams. All shards share the bucket, and the leader of shard 0 keeps it: if each process that
// leads kept it, nodes without a witness would move it away from each other's servers for ever.
func (n *Node) seats() []*seat {
	if n.opts.Shard != 0 {
		return []*seat{&n.stream.seat}
	}
	return []*seat{&n.stream.seat, &n.bucket.seat}
}

// reseat moves the leadership of a stream to a better server, if there is one. The mutex is held until another
// server leads, so the next write goes to that one.
func (n *Node) reseat(ctx context.Context, s *seat) error {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	at, err := n.clusterOf(ctx, s)
	if err != nil || at == nil {
		return err
	}
	to := betterServer(at, n.rank)
	if to == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := n.stepDown(ctx, s, to); err != nil {
		return fmt.Errorf("stream %s, from %s to %s: %w", s.name, at.Leader, to, err)
	}
	n.opts.Logger.Info("moved the leadership of a stream", slog.String("stream", s.name), slog.String("from", at.Leader), slog.String("to", to))
	return n.awaitSeat(ctx, s, at.Leader)
}

func (n *Node) clusterOf(ctx context.Context, s *seat) (*jetstream.ClusterInfo, error) {
	stream, err := n.stream.js.Stream(ctx, s.name)
	if err != nil {
		return nil, err
	}
	return stream.CachedInfo().Cluster, nil
}

// rankBest is the rank of a server that dies with no node.
const rankBest = 2

// rank says how well a server suits as the leader of a stream. A server that belongs to no node of the cluster is best, this
// node's own server is worst. In practice the first is the witness: it dies with no node, so the stream keeps its leader when
// a node fails.
func (n *Node) rank(server string) int {
	switch {
	case server == n.opts.Server || server == "":
		return 0
	case n.peers.isKnown(server):
		return 1
	default:
		return rankBest
	}
}

// betterServer returns the server that should lead a stream instead of its present leader; "" if there is none,
// or if the stream could not do without its present leader's server.
func betterServer(at *jetstream.ClusterInfo, rank func(server string) int) (to string) {
	best := rank(at.Leader)
	if at.Leader == "" || !sparesLeader(at) {
		return ""
	}
	for _, r := range at.Replicas {
		if inStep(r) && rank(r.Name) > best {
			to, best = r.Name, rank(r.Name)
		}
	}
	return to
}

// sparesLeader reports whether a stream keeps a majority when the server that leads it dies. Otherwise another
// leader would gain nothing, and a move that fails costs an election. Replicas has all servers of the stream
// but its leader.
func sparesLeader(at *jetstream.ClusterInfo) bool {
	left := 0
	for _, r := range at.Replicas {
		if inStep(r) {
			left++
		}
	}
	return left > (len(at.Replicas)+1)/2
}

func inStep(r *jetstream.PeerInfo) bool { return r.Current && !r.Offline }

// isKnown reports whether a node of this name has been heard.
func (p *peers) isKnown(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.byName[name]
	return known
}

// stepDown asks the leader of a stream to let another server lead. It names the successor, because the server
// would otherwise choose any replica, also the worst one.
func (n *Node) stepDown(ctx context.Context, s *seat, to string) error {
	ask, err := json.Marshal(map[string]any{"placement": map[string]string{"preferred": to}})
	if err != nil {
		return err
	}
	m, err := n.opts.Conn.RequestWithContext(ctx, "$JS.API.STREAM.LEADER.STEPDOWN."+s.name, ask)
	if err != nil {
		return err
	}
	var reply struct {
		Success bool                `json:"success"`
		Error   *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &reply); err != nil {
		return err
	}
	if !reply.Success {
		return fmt.Errorf("replication: %s: %w", to, errors.Join(errNotMoved, reply.Error))
	}
	return nil
}

var errNotMoved = errors.New("the server refuses to let another lead the stream")

// awaitSeat waits until a server other than before leads a stream. It asks without a pause to speak of: a move
// usually takes milliseconds, and writes wait until it returns.
func (n *Node) awaitSeat(ctx context.Context, s *seat, before string) error {
	for {
		look, cancel := context.WithTimeout(ctx, seatTime)
		at, err := n.clusterOf(look, s)
		cancel()
		if err == nil && at != nil && at.Leader != "" && at.Leader != before {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("replication: no server leads the stream %s yet: %w", s.name, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
}
