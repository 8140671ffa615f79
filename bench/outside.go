package bench

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bench/ports"
	"github.com/carillon-io/carillon/client"
)

// outside is a cluster whose NATS servers are processes of their own, so that the figures of its nodes are theirs alone.
// The NATS servers are three witnesses of another cluster, which no node founds: a witness is nothing but a NATS server.
type outside struct {
	brokers []*member
	nodes   []*member // named a, b and so on
	names   []string  // of the nodes
	// profiles are the addresses where the nodes serve profiles. It costs nothing while none is asked for.
	profiles []string
	urls     string // of all NATS servers
	shards   int
	client   *client.Client // connected to the NATS servers, so that any node answers it
}

// outsideBrokers is the number of NATS servers: the least with which nothing stops when one dies.
const outsideBrokers = 3

// outsideNodesMax bounds the nodes of a cluster on one machine.
const outsideNodesMax = 8

// launchOutside starts a cluster on empty directories, whose names begin with dir, and waits until each node leads and
// holds its share. The caller clears the cluster even after an error.
func (s *stand) launchOutside(dir string, nodes, shards int) (*outside, error) {
	addrs, err := ports.Free(2*outsideBrokers + 2*nodes)
	if err != nil {
		return &outside{}, err
	}
	clients, routes, webs := addrs[:outsideBrokers], addrs[outsideBrokers:2*outsideBrokers], addrs[2*outsideBrokers:]
	o := &outside{shards: shards, profiles: webs[nodes:]}
	for i, address := range clients {
		name := fmt.Sprintf("nats%d", i+1)
		err := s.add(&o.brokers, dir+"-"+name, "", "--witness", "--cluster-name", "nats", "--node", name, "--listen", address,
			"--cluster-listen", routes[i], "--routes", strings.Join(routes, ","))
		if err != nil {
			return o, err
		}
	}
	if err := awaitAll(o.brokers); err != nil {
		return o, err
	}
	o.urls = "nats://" + strings.Join(clients, ",nats://")
	for i := range nodes {
		name := string(rune('a' + i))
		o.names = append(o.names, name)
		err := s.add(&o.nodes, dir+"-"+name, webs[i], "--cluster-name", "bench", "--node", name, "--nats", o.urls, "--nats-syncs",
			"--http-listen", webs[i], "--profile-listen", o.profiles[i], "--shards", strconv.Itoa(shards))
		if err != nil {
			return o, err
		}
	}
	if err := awaitAll(o.nodes); err != nil {
		return o, err
	}
	if o.client, err = connect(o.nodes[0].server); err != nil {
		return o, err
	}
	return o, o.settle(s)
}

// add launches a process and adds it to a list. web is the address of its HTTP; "" if nothing is asked there.
func (s *stand) add(list *[]*member, dir, web string, flags ...string) (err error) {
	m := &member{flags: flags, url: "http://" + web}
	if m.server, err = launchServer(s.binary, filepath.Join(s.dir, dir), flags...); err == nil {
		*list = append(*list, m)
	}
	return err
}

// awaitAll waits until all processes are ready. They may have many jobs to read.
func awaitAll(list []*member) error {
	for _, m := range list {
		if err := m.awaitReady(readyWait); err != nil {
			return err
		}
	}
	return nil
}

// clear kills all processes and removes their data.
func (o *outside) clear() {
	if o.client != nil {
		o.client.Close()
	}
	for _, m := range slices.Concat(o.nodes, o.brokers) {
		m.clear()
	}
}

// rowsOf returns a row for each shard, also of a cluster of one.
func rowsOf(st *client.Status) []client.ShardStatus {
	if len(st.Shards) > 0 || st.Cluster == nil {
		return st.Shards
	}
	row := client.ShardStatus{Epoch: st.Epoch, LSN: st.LSN, Jobs: st.Jobs, Replicas: st.Cluster.Replicas()}
	if st.Role == "leader" {
		row.HasLeader, row.Leader = true, st.Cluster.Node // the other nodes are as they were last heard
	}
	return []client.ShardStatus{row}
}

// settle waits until each node leads its share, and all copies are there and level.
func (o *outside) settle(s *stand) error {
	return o.until(s, "each node leads its share, and all copies are level", func(rows []client.ShardStatus) bool {
		leads := make(map[string]int)
		for i := range rows {
			leads[rows[i].Leader]++
			if !isLevel(&rows[i], min(2, len(o.names))) {
				return false
			}
		}
		return !slices.ContainsFunc(o.names, func(name string) bool { return leads[name] < o.shards/len(o.names) })
	})
}

// isLevel reports whether a shard has a leader, and at least so many copies that all have what the leader has.
func isLevel(row *client.ShardStatus, copies int) bool {
	unfit := func(r client.ShardReplica) bool {
		return r.Move != "" || r.Role != "leader" && r.Role != "standby" || r.Lag > 0 || r.SilentMS > 1000
	}
	return row.Leader != "" && len(row.Replicas) >= copies && !slices.ContainsFunc(row.Replicas, unfit)
}

// until waits until the rows of the shards fit.
func (o *outside) until(s *stand, what string, fits func([]client.ShardStatus) bool) error {
	last := errors.New("nothing was asked")
	for end := time.Now().Add(growWait); time.Now().Before(end) && s.ctx.Err() == nil; s.wait(levelEvery) {
		st, err := statusOf(s, o.client)
		if last = err; err == nil && len(rowsOf(&st)) == o.shards && fits(rowsOf(&st)) {
			return nil
		}
	}
	return errors.Join(s.ctx.Err(), last, fmt.Errorf("not so after %s: %s", growWait, what))
}

// cpuOfAll returns the processor time of some processes.
func cpuOfAll(list []*member) (sum time.Duration) {
	for _, m := range list {
		sum += cpuOf(m.cmd.Process.Pid)
	}
	return sum
}

// scrape returns the metrics of a node, without their labels: those of one name are added up.
func (m *member) scrape() (map[string]float64, error) {
	c := http.Client{Timeout: 5 * time.Second}
	reply, err := c.Get(m.url + "/metrics")
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	all := make(map[string]float64)
	lines := bufio.NewScanner(reply.Body)
	for lines.Scan() {
		// Comments begin with #, and a space in a label is in quotes before the last one.
		at := strings.LastIndexByte(lines.Text(), ' ')
		if at < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		name, _, _ := strings.Cut(lines.Text()[:at], "{")
		if value, err := strconv.ParseFloat(lines.Text()[at+1:], 64); err == nil {
			all[name] += value
		}
	}
	return all, lines.Err()
}
