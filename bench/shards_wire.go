package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// wireKind is a kind of message by which nodes keep track of each other. The subjects are written here and not imported: the
// harness knows the product from outside.
type wireKind struct {
	key, label string
	subjects   []string // the first one of a cluster with one shard, if they differ
}

// wireKinds are counted one by one. All of them are there while nothing fires.
var wireKinds = []wireKind{
	{"beats", "beats", []string{"carillon.cluster.*.beat", "carillon.cluster.beat"}},
	{"leases", "writes to the bucket of the leases", []string{"$KV.CARILLON_LEASE_carillon.>"}},
	{"questions", "questions to a holder", []string{"carillon.cluster.*.node.*.holder", "carillon.cluster.node.*.holder"}},
	{"notes", "notes of what is durable", []string{"carillon.cluster.*.durable"}},
}

// wiretap counts messages of the kinds in one cluster.
type wiretap struct {
	nc       *nats.Conn
	messages [8]atomic.Int64 // by the kind
	bytes    [8]atomic.Int64
}

// tap begins to count the messages in a cluster. The caller closes the connection.
func tap(url string) (*wiretap, error) {
	nc, err := nats.Connect(url, nats.Name("bench wire"))
	if err != nil {
		return nil, err
	}
	w := &wiretap{nc: nc}
	for i, kind := range wireKinds {
		for _, subject := range kind.subjects {
			_, failed := nc.Subscribe(subject, func(m *nats.Msg) {
				w.messages[i].Add(1)
				w.bytes[i].Add(int64(len(m.Data)))
			})
			err = errors.Join(err, failed)
		}
	}
	return w, errors.Join(err, nc.Flush())
}

// count returns the messages of a kind so far, and their bytes.
func (w *wiretap) count(kind int) (messages, bytes float64) {
	return float64(w.messages[kind].Load()), float64(w.bytes[kind].Load())
}

// leading returns how many nodes of a divided cluster lead a shard: each of them has a lease.
func (d *divided) leading() int {
	return len(slices.Compact(slices.Sorted(slices.Values(d.leaders))))
}

// wire counts in both clusters, at the same time, what the nodes send while nothing fires. Beats must be as many with several
// shards as with one, and so must the writes of leases for each node that leads.
func (c *shardsCmd) wire(s *stand, r *result, one *trio, d *divided) error {
	var taps [2]*wiretap
	for i, url := range []string{one.members[0].ready.NATS, d.node.ready.NATS} {
		var err error
		if taps[i], err = tap(url); err != nil {
			return err
		}
		defer taps[i].nc.Close()
	}
	s.say("wire: %s", c.Idle)
	var before [2][8][2]float64
	for i, w := range taps {
		for kind := range wireKinds {
			before[i][kind][0], before[i][kind][1] = w.count(kind)
		}
	}
	began := time.Now()
	s.wait(c.Idle)
	took := time.Since(began).Seconds()
	r.count("leading", "nodes that lead, of the cluster with several shards", d.leading())
	for kind, k := range wireKinds {
		var messages [2]float64
		for i, who := range []string{"one", "several"} {
			n, bytes := taps[i].count(kind)
			messages[i] = n - before[i][kind][0]
			r.add(who+"_"+k.key+"_per_second", strings.Replace(who, "one", "one shard", 1)+", "+k.label+" a second", messages[i]/took, "/s")
			r.add(who+"_"+k.key+"_bytes_per_second", "their bytes", (bytes-before[i][kind][1])/took, "B/s")
		}
		want := messages[0]
		switch k.key {
		case "leases":
			want *= float64(d.leading())
		case "beats":
		default:
			continue
		}
		if most := want*1.05 + 4; messages[1] > most {
			r.breaks("%.0f %s with one shard, and %.0f with several; want at most %.0f", messages[0], k.label, messages[1], most)
		}
	}
	if taps[0].messages[0].Load() == 0 {
		return fmt.Errorf("no beat was heard in %s", c.Idle)
	}
	return s.ctx.Err()
}
