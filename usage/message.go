// Package usage adds up what tenants use in the shards of a cluster. A quota is for all shards together, and each shard counts
// its own. So each process says once a second what the tenants with a quota use in the shards that it leads ([Encode]), and
// keeps the newest that it has heard of each shard ([Table]).
//
// A shard that is silent keeps its last use: it has no leader, so nothing new begins there, and what it has stays. A message
// that is lost does no harm, because the next one says all again.
package usage

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-io/carillon/scheduler"
)

// Use is what a tenant uses of a shard.
type Use struct {
	Tenant string
	scheduler.Quota
}

// Report is what tenants use in a shard, as its leader has counted it. It is about the tenants from From on, and before To if
// that is not "", in the order of their names: one that is not in Uses uses nothing.
type Report struct {
	Shard uint32
	// Epoch is that of the leader. A report of an earlier epoch is that of a former leader. 0: a replica has this, of which no leader
	// has been heard.
	Epoch uint64
	// Seq grows from report to report of a process.
	Seq      uint64
	From, To string
	Uses     []Use // in the order of their tenants
}

// wire is a message, and wireReport the part of it about one shard.
type wire struct {
	Version int          `json:"version"`
	Cluster string       `json:"cluster_id"`
	Node    string       `json:"node"`
	Shards  []wireReport `json:"shards"`
}

type wireReport struct {
	Shard uint32              `json:"shard"`
	Epoch uint64              `json:"epoch"`
	Seq   uint64              `json:"seq"`
	From  string              `json:"from,omitempty"`
	To    string              `json:"to,omitempty"`
	Uses  map[string][3]int64 `json:"uses,omitempty"` // jobs, bytes, live runs
}

const version = 1

// messageUses bounds the uses in a message, so that it has at most about 150 KB. More uses take several messages.
const messageUses = 1000

// Encode returns the messages with some reports, whole ones, of a node. It numbers the reports from seq on, and returns the
// next number. Uses of zero are left out.
func Encode(cluster, node string, reports []Report, seq uint64) (messages [][]byte, next uint64) {
	m, room := wire{Version: version, Cluster: cluster, Node: node}, messageUses
	send := func() {
		b, _ := json.Marshal(m) // strings and numbers: it cannot fail
		messages, m.Shards, room = append(messages, b), nil, messageUses
	}
	for _, r := range reports {
		uses := slices.DeleteFunc(slices.Clone(r.Uses), func(u Use) bool { return u.Quota == scheduler.Quota{} })
		for from := ""; ; {
			if room == 0 {
				send()
			}
			n := min(len(uses), room)
			part := wireReport{Shard: r.Shard, Epoch: r.Epoch, Seq: seq, From: from, Uses: make(map[string][3]int64, n)}
			for _, u := range uses[:n] {
				part.Uses[u.Tenant] = [3]int64{u.Jobs, u.Bytes, u.LiveRuns}
			}
			seq, room, uses = seq+1, room-n, uses[n:]
			if len(uses) > 0 {
				part.To = uses[0].Tenant
			}
			m.Shards, from = append(m.Shards, part), part.To
			if len(uses) == 0 {
				break
			}
		}
	}
	if len(m.Shards) > 0 {
		send()
	}
	return messages, seq
}

// useMax bounds each number of a use: it is far above any real one, and sums of such numbers do not overflow.
const useMax = 1 << 50

var errMessage = errors.New("usage: not a message of a node of this cluster")

// Decode returns the reports of a message of a cluster, and the node that sent it.
func Decode(cluster string, data []byte) (node string, reports []Report, err error) {
	var m wire
	if err := json.Unmarshal(data, &m); err != nil {
		return "", nil, fmt.Errorf("%w: %w", errMessage, err)
	}
	if m.Version != version || m.Cluster != cluster {
		return "", nil, errMessage
	}
	for _, s := range m.Shards {
		r := Report{Shard: s.Shard, Epoch: s.Epoch, Seq: s.Seq, From: s.From, To: s.To}
		for tenant, n := range s.Uses {
			for _, v := range n {
				if v < 0 || v > useMax {
					return "", nil, fmt.Errorf("%w: it has a use of %d", errMessage, v)
				}
			}
			if r.covers(tenant) {
				r.Uses = append(r.Uses, Use{tenant, scheduler.Quota{Jobs: n[0], Bytes: n[1], LiveRuns: n[2]}})
			}
		}
		slices.SortFunc(r.Uses, func(a, b Use) int { return strings.Compare(a.Tenant, b.Tenant) })
		reports = append(reports, r)
	}
	return m.Node, reports, nil
}

// covers reports whether a report is about a tenant.
func (r *Report) covers(tenant string) bool { return tenant >= r.From && (r.To == "" || tenant < r.To) }
