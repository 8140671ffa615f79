package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/testkit"
)

// startAlone starts a node alone and returns a client of it.
func startAlone(t *testing.T, dir string) (*Server, *nats.Conn, *client.Client) {
	t.Helper()
	s, err := Start(t.Context(), Options{Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	nc, c := clienttest.Connect(t, s.Ready().NATS)
	return s, nc, c
}

func natsJob(name, schedule string) client.Job {
	return client.Job{Name: name, Schedule: schedule, Target: client.Target{Kind: "nats", Subject: "out." + name}}
}

func mustPut(t *testing.T, c *client.Client, j client.Job) client.JobInfo {
	t.Helper()
	info, _, err := c.Put(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// takeBackup fetches a backup.
func takeBackup(t *testing.T, c *client.Client) []byte {
	t.Helper()
	from, err := c.OpenBackup(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	var out bytes.Buffer
	h, err := WriteBackup(t.Context(), from, &out, nil)
	if err != nil || h.Position.LSN != from.LSN {
		t.Fatalf("the backup is at %v, %v", h.Position, err)
	}
	return out.Bytes()
}

// TestBackupWhileServing: a backup of a server that registers jobs all the time has every job that was
// acknowledged before, and restores to a server that goes on.
func TestBackupWhileServing(t *testing.T) {
	s, _, c := startAlone(t, filepath.Join(t.TempDir(), "data"))
	for i := range 300 {
		mustPut(t, c, natsJob(fmt.Sprintf("before-%d", i), "@daily"))
	}
	before := s.first().data.Applied()
	stop, stopped := make(chan struct{}), sync.WaitGroup{}
	stopped.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, _, err := c.Put(context.Background(), natsJob(fmt.Sprintf("meanwhile-%d", i), "@daily")); err != nil {
				t.Error(err)
			}
		}
	})
	b := takeBackup(t, c)
	close(stop)
	stopped.Wait()

	dir := filepath.Join(t.TempDir(), "restored")
	done, err := datadir.Restore(dir, bytes.NewReader(b), discard)
	if err != nil || done.Jobs < 300 || done.Position.LSN < before.LSN {
		t.Fatalf("restored %+v, %v; the server was at %v", done, err, before)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, _, c := startAlone(t, dir)
	if r := again.Ready(); r.Jobs != done.Jobs || r.Epoch != done.Position.Epoch+1 {
		t.Errorf("%+v after a restore of %+v", r, done)
	}
	if _, err := c.Get(t.Context(), "before-299"); err != nil {
		t.Error(err)
	}
	mustPut(t, c, natsJob("after", "@daily"))
	if left, err := os.ReadDir(filepath.Join(s.first().data.Dir(), "outgoing")); err != nil || len(left) > 0 {
		t.Errorf("%d copies are left, %v", len(left), err)
	}
}

// TestBackupsAreBounded: a third backup at a time is refused, and one that is closed makes room.
func TestBackupsAreBounded(t *testing.T) {
	s, _, c := startAlone(t, t.TempDir())
	one, err := c.OpenBackup(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.OpenBackup(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.OpenBackup(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "ask again later") {
		t.Fatalf("a third one: %v", err)
	}
	one.Close()
	testkit.Retry(t, "a third one after the first has ended", func(ctx context.Context) error {
		three, err := c.OpenBackup(ctx, 0)
		if err == nil {
			three.Close()
		}
		return err
	})
	for _, p := range []struct {
		file   int
		offset int64
	}{{-1, 0}, {len(two.Files), 0}, {0, -1}, {0, two.Files[0].Size}} {
		if _, err := two.Piece(t.Context(), p.file, p.offset); err == nil || client.IsUnavailable(err) {
			t.Errorf("the piece %+v: %v", p, err)
		}
	}
	s.first().backups.sessions.Drop(two.Session) // as after a minute without a request
	if _, err := two.Piece(t.Context(), 0, 0); !client.IsUnavailable(err) {
		t.Errorf("a piece of a copy that is gone: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestBackupOfCluster: only the leader answers, and its backup restores to a node alone. Without a leader no
// node answers.
func TestBackupOfCluster(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	a := p.start("a", filepath.Join(t.TempDir(), "a"))
	b := p.start("b", filepath.Join(t.TempDir(), "b"))
	c := p.client(false)
	mustPut(t, c, natsJob("one", "@daily"))
	for _, leader := range []*Server{a, b} {
		testkit.Until(p.t, leader.opts.Node+" leads", p.leads(leader))
		from, err := c.OpenBackup(t.Context(), 0)
		if err != nil || from.Node != leader.opts.Node || from.ClusterID != leader.first().shard.Node().ID().String() {
			t.Fatalf("%+v, %v", from, err)
		}
		var out bytes.Buffer
		if leader == a { // the copy does not depend on who leads meanwhile
			p.level(a, b)
			if _, err := c.Handover(t.Context(), 0, "b"); err != nil {
				t.Fatal(err)
			}
			testkit.Until(p.t, "b leads", p.leads(b))
		}
		h, err := WriteBackup(t.Context(), from, &out, nil)
		if err != nil || h.ClusterID != [16]byte(leader.first().shard.Node().ID()) {
			t.Fatalf("%+v, %v", h, err)
		}
		from.Close()
		dir := filepath.Join(t.TempDir(), "restored")
		if done, err := datadir.Restore(dir, &out, discard); err != nil || done.Jobs != 1 {
			t.Fatalf("restored %+v, %v", done, err)
		}
		alone, _, _ := startAlone(t, dir)
		if alone.Ready().Jobs != 1 {
			t.Errorf("alone: %+v", alone.Ready())
		}
	}
	for _, s := range []*Server{a, b} {
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	hasty := clienttest.New(t, p.nc, client.Options{NoRetry: true})
	if _, err := hasty.OpenBackup(t.Context(), 0); !client.IsUnavailable(err) {
		t.Errorf("a backup without a leader: %v", err)
	}
}
