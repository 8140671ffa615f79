package bench

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/job"
)

// handoverCmd measures a steady load while one shard after the other is handed over to another node, beside the same load while
// none is.
type handoverCmd struct {
	Shards int           `help:"Shards of the cluster." default:"8"`
	Nodes  int           `help:"Nodes of the cluster." default:"3"`
	Rate   int           `help:"One-shots a second, as many in each shard, at equal distances." default:"1600"`
	Calm   time.Duration `help:"Length of each window without hand-overs." default:"12s"`
	Pause  time.Duration `help:"Time from one hand-over to the next; the nodes themselves take three seconds." default:"3s"`
	Turns  int           `help:"Calm windows, each followed by a hand-over of every shard." default:"3"`
	Jobs   int           `help:"Jobs armed for a far future, whose ids and versions must stay." default:"20000"`
}

// Validate returns an error for sizes out of range.
func (c *handoverCmd) Validate() error {
	if err := job.ValidateShards(c.Shards); err != nil || c.Shards < 2 {
		return errors.Join(err, fmt.Errorf("--shards is %d; want 2 or more", c.Shards))
	}
	if c.Calm < 4*time.Second || c.Calm > windowMax || c.Pause < time.Second || c.Pause > time.Minute {
		return fmt.Errorf("--calm is %s and --pause is %s; want four seconds to %s, and one second to a minute", c.Calm, c.Pause, windowMax)
	}
	if fires := float64(c.Rate) * c.length().Seconds(); fires > firesMax {
		return fmt.Errorf("that makes %.0f fires; want at most %d", fires, firesMax)
	}
	return errors.Join(within("nodes", c.Nodes, 2, outsideNodesMax), within("rate", c.Rate, c.Shards, 1000*c.Shards), within("turns", c.Turns, 1, 20), within("jobs", c.Jobs, 0, armedMax))
}

// length is the length of the window in which one-shots are due. A hand-over may take longer than the pause after it.
func (c *handoverCmd) length() time.Duration {
	return time.Duration(c.Turns) * (c.Calm + time.Duration(c.Shards)*(c.Pause+handoverSpare))
}

// handoverSpare is how much longer than planned a hand-over may take on average, and handoverGoals are the greatest gap in the
// launches of a shard, and the greatest p99 of lateness, as a multiple of that of the calm windows.
const (
	handoverSpare     = 500 * time.Millisecond
	handoverGapGoal   = 150 * time.Millisecond
	handoverRatioGoal = 2.0
)

func (c *handoverCmd) measure(s *stand) []*result {
	r := &result{Name: "handover", Setting: fmt.Sprintf("%d nodes with three NATS servers outside and %d shards; %d one-shots a second; %d times %s of calm, and then a hand-over every %s of "+
		"one shard after the other; arrival at a NATS subscriber in another process", c.Nodes, c.Shards, c.Rate, c.Turns, c.Calm, c.Pause)}
	o, err := s.launchOutside("handover", c.Nodes, c.Shards)
	defer o.clear()
	if err == nil {
		err = (&rotation{handoverCmd: c, outside: o, shards: c.Shards}).run(s, r)
	}
	if err != nil && s.ctx.Err() == nil {
		r.breaks("%v", err)
	}
	return []*result{s.show(r)}
}

// rotation is a cluster whose shards are handed over.
type rotation struct {
	*handoverCmd
	*outside
	shards int
	window *window
	calm   []span // one for each turn
	moving []span
	moves  []moved
	epochs [2]uint64 // of all shards added up, before and after
}

// moved is a hand-over: of which shard, when it was asked for, and when a status named the new leader.
type moved struct {
	shard       uint32
	asked, done time.Time
}

// run registers the load, hands over, and compares.
func (l *rotation) run(s *stand, r *result) error {
	if err := arm(s, l.client, l.Jobs); err != nil {
		return err
	}
	before, err := identities(s, l.client)
	if err != nil {
		return err
	}
	recv, err := s.startReceiver(l.urls, fireSubject)
	if err != nil {
		return err
	}
	if err := l.register(s); err != nil {
		return err
	}
	s.wait(time.Until(l.window.from))
	if l.epochs[0], err = l.epoch(s); err != nil {
		return err
	}
	for turn := range l.Turns {
		if err := l.turn(s, turn); err != nil {
			return err
		}
	}
	if l.epochs[1], err = l.epoch(s); err != nil {
		return err
	}
	l.window.cut(time.Now())
	s.watch("handover", l.window)
	receipts, err := recv.collect()
	if err != nil {
		return err
	}
	l.tell(r, receipts)
	after, err := identities(s, l.client)
	if err == nil && !maps.Equal(before, after) {
		r.breaks("ids or versions of jobs have changed: %d jobs before, %d after", len(before), len(after))
	}
	r.count("jobs", "jobs whose ids and versions are the same as before", len(after))
	return errors.Join(err, s.ctx.Err())
}

// register puts one-shots that are due at equal distances, of one shard after the other.
func (l *rotation) register(s *stand) error {
	count := int(float64(l.Rate) * l.length().Seconds())
	w := newWindow(time.Now().Add(clusterAhead+headStart(count)), l.length(), 0)
	l.window = w
	payload := padded(len(`{"bench":true}`))
	err := putJobs(s.ctx, l.client, func(yield func(client.Job) bool) {
		for i := range count {
			name := nameIn(uint32(i%l.shards), l.shards, i)
			due := w.from.Add(time.Duration(i) * time.Second / time.Duration(l.Rate)).Truncate(time.Millisecond)
			w.due[name] = due
			if !yield(fireJob(name, "@at "+client.At(due).String(), payload)) {
				return
			}
		}
	})
	return errors.Join(err, w.checkStart())
}

// nameIn returns a name for the i-th job whose slot belongs to a shard.
func nameIn(shard uint32, shards, i int) string {
	for salt := 0; ; salt++ { // one of so many names is of the shard
		name := fmt.Sprintf("shot-%d-%d", i, salt)
		if job.ShardOf(job.SlotOf("default", name), shards) == shard {
			return name
		}
	}
}

// turn waits through a calm window, and hands every shard over.
func (l *rotation) turn(s *stand, turn int) error {
	s.say("handover: turn %d of %d", turn+1, l.Turns)
	from := time.Now()
	s.wait(l.Calm)
	to := time.Now()
	l.calm = append(l.calm, span{from, to})
	left := make(map[uint32]bool)
	for i := range l.shards {
		left[uint32(i)] = true
	}
	for len(left) > 0 && s.ctx.Err() == nil {
		began := time.Now()
		shard, err := l.move(s, left)
		if err != nil {
			return err
		}
		delete(left, shard)
		s.wait(time.Until(began.Add(l.Pause)))
	}
	l.moving = append(l.moving, span{to, time.Now()})
	if time.Now().After(l.window.to) {
		return errors.New("the hand-overs took longer than the load lasts; want fewer shards, or a slower pause")
	}
	return s.ctx.Err()
}

// epoch returns the epochs of all shards, added up: each hand-over raises it by one.
func (l *rotation) epoch(s *stand) (sum uint64, err error) {
	st, err := statusOf(s, l.client)
	for _, row := range rowsOf(&st) {
		sum += row.Epoch
	}
	return sum, err
}

// move hands over one of the shards that are left: from a node that leads much to one that leads little, so that the nodes find
// little to spread.
func (l *rotation) move(s *stand, left map[uint32]bool) (uint32, error) {
	st, err := statusOf(s, l.client)
	if err != nil {
		return 0, err
	}
	rows := rowsOf(&st)
	best, to, most := -1, "", 0
	for i := range rows {
		node := l.successor(&st, &rows[i])
		if !left[rows[i].Shard] || node == "" {
			continue
		}
		if more := leadsOf(&st, rows[i].Leader) - leadsOf(&st, node); best < 0 || more > most {
			best, to, most = i, node, more
		}
	}
	if best < 0 {
		return 0, errors.New("no shard that is left has a copy that could lead")
	}
	one := moved{shard: rows[best].Shard, asked: time.Now()}
	if _, err := l.client.Handover(s.ctx, one.shard, to); err != nil {
		return 0, fmt.Errorf("hand shard %d over from %s to %s: %w", one.shard, rows[best].Leader, to, err)
	}
	err = l.until(s, "the shard has its new leader", func(rows []client.ShardStatus) bool { return rows[one.shard].Leader == to })
	one.done = time.Now()
	l.moves = append(l.moves, one)
	return one.shard, err
}

// successor returns the standby of a shard that leads the least; "" if none is level.
func (l *rotation) successor(st *client.Status, row *client.ShardStatus) string {
	fit := slices.DeleteFunc(slices.Clone(row.Replicas), func(one client.ShardReplica) bool { return one.Role != "standby" || one.SilentMS > 1000 })
	if len(fit) == 0 {
		return ""
	}
	return slices.MinFunc(fit, func(a, b client.ShardReplica) int { return leadsOf(st, a.Node) - leadsOf(st, b.Node) }).Node
}
