package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/carillon-io/carillon/bench/ports"
	"github.com/carillon-io/carillon/client"
)

// member is a process of a cluster. It can be started again on its directory. Its server is replaced at each start;
// everything else stays.
type member struct {
	*server
	// flags are the same at each start, so the member keeps its name and its addresses.
	flags []string
	// The flag --http-listen fixes the address, because a node answers before it prints its ready line.
	url string // address of its HTTP, known before it is ready
}

// trio is a cluster: two nodes with state, and a witness.
type trio struct {
	leader, standby, witness *member
	members                  []*member // the three of them; fewer while they start
	// client is connected to the leader of the beginning.
	client *client.Client
	// startedIn counts from the first start of a process to the last ready line.
	startedIn time.Duration
	epoch     uint64 // epoch of the leadership that is measured
}

// trioWait bounds the first start of a cluster. It includes the election of NATS and the making of the stream.
const trioWait = 30 * time.Second

// startTrio starts a cluster on empty directories, and finds out which node leads.
func (s *stand) startTrio() (*trio, error) {
	t, err := s.launchTrio("node")
	if err != nil {
		return t, err
	}
	return t, t.findRoles(s)
}

// launchTrio starts a cluster on empty directories, whose names begin with dir. The first start needs all three members.
// The caller clears the cluster even after an error.
func (s *stand) launchTrio(dir string, more ...string) (*trio, error) {
	const names = "abc" // c is the witness
	addrs, err := ports.Free(2 * len(names))
	if err != nil {
		return nil, err
	}
	t := &trio{}
	began := time.Now()
	routes := strings.Join(addrs[:len(names)], ",")
	for i, name := range names {
		flags := []string{
			"--cluster-name", "bench", "--node", string(name), "--cluster-listen", addrs[i], "--routes", routes,
			"--http-listen", addrs[len(names)+i],
		}
		if i == len(names)-1 {
			flags = append(flags, "--witness")
		} else {
			flags = append(flags, more...) // of nodes with data
		}
		m := &member{flags: flags, url: "http://" + addrs[len(names)+i]}
		if m.server, err = launchServer(s.binary, filepath.Join(s.dir, dir+"-"+string(name)), flags...); err != nil {
			return t, err
		}
		t.members = append(t.members, m)
	}
	for _, m := range t.members {
		if err := m.awaitReady(max(time.Second, trioWait-time.Since(began))); err != nil {
			return t, err
		}
	}
	t.startedIn = time.Since(began)
	return t, nil
}

// findRoles finds out which node leads, and connects to it. Which of the two nodes leads is decided by the cluster,
// so the harness asks.
func (t *trio) findRoles(s *stand) error {
	t.leader, t.standby, t.witness = t.members[0], t.members[1], t.members[2]
	// The ready lines say it, so nothing has to be polled.
	if t.standby.ready.Role == "leader" {
		t.leader, t.standby = t.standby, t.leader
	}
	if t.leader.ready.Role != "leader" || t.standby.ready.Role != "standby" {
		return fmt.Errorf("the nodes are %s and %s; want a leader and a standby", t.leader.ready.Role, t.standby.ready.Role)
	}
	var err error
	if t.client, err = connect(t.leader.server); err != nil {
		return err
	}
	st, err := statusOf(s, t.client)
	t.epoch = st.Epoch
	return err
}

// sameReign returns an error if the leader has changed, because figures across a takeover are not comparable. Clients
// of the harness keep their figures, but the node that is measured would be another.
func (t *trio) sameReign(s *stand) error {
	st, err := statusOf(s, t.client)
	if err == nil && st.Epoch != t.epoch {
		err = fmt.Errorf("the leader has changed meanwhile: the epoch was %d, and is %d", t.epoch, st.Epoch)
	}
	return err
}

// clear kills all processes and removes their data.
func (t *trio) clear() {
	if t.client != nil {
		t.client.Close()
	}
	for _, m := range t.members {
		m.clear()
	}
}

// launch starts the process on its directory, with the data that is there.
func (m *member) launch(s *stand) (err error) {
	dir := m.dir
	next, err := launchServer(s.binary, dir, m.flags...)
	if err == nil {
		m.server = next
	}
	return err
}

// status returns the status of a node. A node that is not ready answers too, once it has found the cluster. It asks
// over HTTP, which a node serves from its start on.
func (m *member) status(ctx context.Context) (st client.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/api/v1/status", nil)
	if err != nil {
		return st, err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return st, err
	}
	defer reply.Body.Close()
	if err := json.NewDecoder(reply.Body).Decode(&st); err != nil {
		return st, err
	}
	if reply.StatusCode != http.StatusOK || st.Cluster == nil {
		return st, fmt.Errorf("%s answers with %s, and is no node of a cluster", m.url, reply.Status)
	}
	return st, nil
}

const (
	levelWait = 10 * time.Minute // longest time for a standby to become level
	// The times to level are this coarse.
	levelEvery = 5 * time.Millisecond // between two polls of its status
)

// level waits until the standby has applied everything that the leader has committed by now. It calls
// look, which may be nil, with each status that it polls.
func (t *trio) level(s *stand, look func(client.Status)) error {
	want, err := t.leader.status(s.ctx)
	if err != nil {
		return err
	}
	last := errors.New("nothing was asked")
	for end := time.Now().Add(levelWait); time.Now().Before(end) && s.ctx.Err() == nil; s.wait(levelEvery) {
		select {
		case <-t.standby.exited:
			return fmt.Errorf("the standby has ended: %v; its log:\n%s", t.standby.err, t.standby.log())
		default:
		}
		st, err := t.standby.status(s.ctx)
		// The last error goes into the message when the time is over.
		if last = err; err != nil {
			continue
		}
		if look != nil {
			look(st)
		}
		// A node that joins has another role until its checkpoint is in place.
		if st.Role == "standby" && st.AppliedLSN >= want.LSN {
			return nil
		}
	}
	return errors.Join(s.ctx.Err(), last, fmt.Errorf("the standby was not level with commit %d within %s", want.LSN, levelWait))
}

// sameJobs checks that both nodes have the same number of jobs. No client may register jobs meanwhile.
func (t *trio) sameJobs(s *stand, r *result) error {
	leader, err := t.leader.status(s.ctx)
	if err != nil {
		return err
	}
	standby, err := t.standby.status(s.ctx)
	if err == nil && standby.Jobs != leader.Jobs {
		r.breaks("the leader has %d jobs, and the standby %d", leader.Jobs, standby.Jobs)
	}
	return err
}
