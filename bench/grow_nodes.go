package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/bench/ports"
	"github.com/carillon-io/carillon/client"
)

// launchNodes prepares a cluster of so many nodes with embedded NATS servers, and starts the first ones. The caller clears
// the cluster even after an error.
func (s *stand) launchNodes(dir string, all, first int, more ...string) (*trio, error) {
	addrs, err := ports.Free(2 * all)
	if err != nil {
		return &trio{}, err
	}
	t := &trio{}
	routes := strings.Join(addrs[:first], ",")
	for i := range all {
		name := string(rune('a' + i))
		flags := append([]string{
			"--cluster-name", "bench", "--node", name, "--cluster-listen", addrs[i], "--routes", routes, "--http-listen", addrs[all+i],
		}, more...)
		m := &member{flags: flags, url: "http://" + addrs[all+i], server: &server{dir: filepath.Join(s.dir, dir+"-"+name)}}
		t.members = append(t.members, m)
		if i < first {
			if err := m.launch(s); err != nil {
				return t, err
			}
		}
	}
	for _, m := range t.members[:first] {
		if err := m.awaitReady(trioWait); err != nil {
			return t, err
		}
	}
	return t, nil
}

// growWait bounds each wait for a state of the cluster.
const growWait = 10 * time.Minute

// until waits until the status fits, and returns the time since an instant.
func (g *growth) until(s *stand, began time.Time, what string, fits func(*client.Status) bool) (time.Duration, error) {
	last := errors.New("nothing was asked")
	for end := time.Now().Add(growWait); time.Now().Before(end) && s.ctx.Err() == nil; s.wait(20 * levelEvery) {
		st, err := statusOf(s, g.cl)
		if last = err; err == nil && fits(&st) {
			return time.Since(began), nil
		}
	}
	return 0, errors.Join(s.ctx.Err(), last, fmt.Errorf("not so after %s: %s", growWait, what))
}

// settled waits until each shard but the first has two copies and none moves, and each of so many nodes leads and holds its
// share.
func (g *growth) settled(s *stand, nodes int) error {
	_, err := g.until(s, time.Now(), fmt.Sprintf("%d nodes have their shares", nodes), func(st *client.Status) bool {
		for i := range st.Shards {
			row := &st.Shards[i]
			if row.Leader == "" || i > 0 && len(row.Replicas) != 2 {
				return false
			}
			for _, r := range row.Replicas {
				if r.Move != "" {
					return false
				}
			}
		}
		for _, name := range []string{"a", "b", "c", "d"}[:nodes] {
			leads, holds := leadsOf(st, name), holdsOf(st, name)
			if leads < g.Shards/nodes || holds < 2*(g.Shards-1)/nodes {
				return false
			}
		}
		return true
	})
	return err
}

// leadsOf returns how many shards a node leads, and holdsOf how many it holds besides the first one.
func leadsOf(st *client.Status, node string) (n int) {
	for i := range st.Shards {
		if st.Shards[i].Leader == node {
			n++
		}
	}
	return n
}

func holdsOf(st *client.Status, node string) (n int) {
	for i := range st.Shards {
		for _, r := range st.Shards[i].Replicas {
			if i > 0 && r.Node == node {
				n++
			}
		}
	}
	return n
}

// window lets jobs tick for some time, with something that happens meanwhile, and returns how late they arrived. It waits
// for what happens.
func (g *growth) window(s *stand, length time.Duration, meanwhile func() error) (tally, error) {
	failed := make(chan error, 1)
	go func() {
		if meanwhile == nil {
			failed <- nil
			return
		}
		s.wait(length / 10) // the jobs are registered first
		failed <- meanwhile()
	}()
	var figures result // of this window only; not reported
	fires := &jitterCmd{Every: g.Every, For: length, Payload: len(`{"bench":true}`), ahead: 12 * time.Second}
	t, err := fires.fire(s, g.members[0].server, g.cl, &figures)
	return t, errors.Join(err, <-failed)
}

// identities returns of each job its id and version, by the name.
func identities(s *stand, cl *client.Client) (map[string]string, error) {
	ids := make(map[string]string)
	for page := (client.ListRequest{Limit: 1000, Prefix: "bulk/"}); ; {
		list, err := cl.List(s.ctx, page)
		if err != nil {
			return nil, err
		}
		for _, j := range list.Jobs {
			ids[j.Name] = fmt.Sprint(j.ID, " ", j.Version)
		}
		if page.Cursor = list.NextCursor; page.Cursor == "" {
			return ids, nil
		}
	}
}

// pieces counts the bytes of checkpoints on the wire.
type pieces struct {
	nc    *nats.Conn
	bytes atomic.Int64
}

// pieceHeader marks a piece of a checkpoint. It is written here and not imported: the harness knows the product from outside.
const pieceHeader = "Carillon-Crc32c"

// countPieces begins to count the pieces that nodes send as replies.
func countPieces(url string) (*pieces, error) {
	nc, err := nats.Connect(url, nats.Name("bench pieces"))
	if err != nil {
		return nil, err
	}
	p := &pieces{nc: nc}
	_, err = nc.Subscribe("_INBOX.>", func(m *nats.Msg) {
		if m.Header.Get(pieceHeader) != "" {
			p.bytes.Add(int64(len(m.Data)))
		}
	})
	return p, errors.Join(err, nc.Flush())
}

func (p *pieces) end() { p.nc.Close() }

// storesOf returns the bytes of the stores of a node on disk.
func storesOf(dir string) (sum int64) {
	stores, _ := filepath.Glob(filepath.Join(dir, "shards", "*", "store"))
	for _, store := range stores {
		_ = filepath.WalkDir(store, func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil
			}
			if info, err := e.Info(); err == nil {
				sum += info.Size()
			}
			return nil
		})
	}
	return sum
}
