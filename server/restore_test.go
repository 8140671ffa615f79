package server

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
	"github.com/carillon-io/carillon/wal"
)

// TestRestoredMissedRuns: jobs that were due between the backup and the restore are decided by their
// policies, as after any stop.
func TestRestoredMissedRuns(t *testing.T) {
	s, nc, c := startAlone(t, filepath.Join(t.TempDir(), "data"))
	at := time.Now().Add(1500 * time.Millisecond)
	for _, policy := range []string{"fire_once", "skip"} {
		j := natsJob(policy, "@at "+at.UTC().Format(time.RFC3339Nano))
		j.MissedRunPolicy, j.Retry.MaxAttempts = policy, 1
		mustPut(t, c, j)
	}
	b := takeBackup(t, c)
	ran := make(chan *nats.Msg, 8)
	if _, err := nc.ChanSubscribe("out.>", ran); err != nil {
		t.Fatal(err)
	}
	original := testkit.Receive(t, ran) // the time has passed
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := datadir.Restore(dir, bytes.NewReader(b), discard); err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Until(at.Add(1200 * time.Millisecond))) // up to a second late is not missed
	_, _, c = startAlone(t, dir)
	for policy, want := range map[string]string{"fire_once": "succeeded", "skip": "skipped"} {
		var runs client.RunPage
		testkit.Until(t, "the run of "+policy+" is "+want, func() bool {
			var err error
			if runs, err = c.ListRuns(t.Context(), client.RunListRequest{Job: policy}); err != nil {
				t.Fatal(err)
			}
			return len(runs.Runs) == 1 && runs.Runs[0].Status == want
		})
		id := original.Header.Get("Carillon-Run-Id")
		if original.Header.Get("Carillon-Job") == policy && runs.Runs[0].RunID != id {
			t.Errorf("%s: the run is %s, and was %s before", policy, runs.Runs[0].RunID, id)
		}
	}
}

// TestRestoreRefuses: after a refused restore the directory is as it was, or absent.
func TestRestoreRefuses(t *testing.T) {
	s, _, c := startAlone(t, filepath.Join(t.TempDir(), "data"))
	mustPut(t, c, natsJob("one", "@daily"))
	b := takeBackup(t, c)
	root := t.TempDir()
	absent := filepath.Join(root, "absent")
	for at := 0; at < len(b); at += len(b)/40 + 1 {
		flipped := bytes.Clone(b)
		flipped[at] ^= 0x40
		if _, err := datadir.Restore(absent, bytes.NewReader(flipped), discard); err == nil {
			t.Fatalf("byte %d changed: restored", at)
		}
		if _, err := datadir.Restore(absent, bytes.NewReader(b[:at]), discard); !errors.Is(err, backup.ErrTruncated) && !errors.Is(err, backup.ErrNotBackup) {
			t.Fatalf("cut off at %d: %v", at, err)
		}
		if _, err := os.Stat(absent); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("byte %d: something is left of the directory: %v", at, err)
		}
	}
	if _, err := datadir.Restore(s.dir.Dir(), bytes.NewReader(b), discard); !errors.Is(err, ErrInUse) {
		t.Errorf("into a directory in use: %v", err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.Restore(s.dir.Dir(), bytes.NewReader(b), discard); !errors.Is(err, datadir.ErrNotEmpty) {
		t.Errorf("into a directory with data: %v", err)
	}
	other := filepath.Join(root, "other")
	if err := errors.Join(os.Mkdir(other, 0o750), os.WriteFile(filepath.Join(other, "diary.txt"), nil, 0o640)); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.Restore(other, bytes.NewReader(b), discard); !errors.Is(err, datadir.ErrNotEmpty) {
		t.Errorf("into a directory of something else: %v", err)
	}
	if entries, _ := os.ReadDir(other); len(entries) != 1 {
		t.Errorf("it has %d entries now", len(entries))
	}
}

// TestWrongPosition: a copy that is not at the position that the backup names is refused, although every
// byte is as it was written.
func TestWrongPosition(t *testing.T) {
	_, _, c := startAlone(t, filepath.Join(t.TempDir(), "data"))
	mustPut(t, c, natsJob("one", "@daily"))
	from, err := c.OpenBackup(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	from.LSN++
	var out bytes.Buffer
	if _, err := WriteBackup(t.Context(), from, &out, nil); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := datadir.Restore(dir, &out, discard); err == nil || !strings.Contains(err.Error(), "is wanted") {
		t.Errorf("restored: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// TestInterruptedRestore: what a crash leaves of a restore, at each of its steps, is refused by a server and
// accepted by the next restore.
func TestInterruptedRestore(t *testing.T) {
	_, _, c := startAlone(t, filepath.Join(t.TempDir(), "data"))
	mustPut(t, c, natsJob("one", "@daily"))
	b := takeBackup(t, c)
	for name, step := range map[string]func(dir string, from *backup.Reader) error{
		"marked":   func(string, *backup.Reader) error { return nil },
		"received": receiveAll,
		"by an older release, at the root": func(dir string, _ *backup.Reader) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, datadir.StoreName), 0o750), os.WriteFile(filepath.Join(dir, datadir.StoreName, "FORMAT"), nil, 0o640),
				os.Mkdir(filepath.Join(dir, datadir.LogName), 0o750), os.WriteFile(filepath.Join(dir, datadir.PartsName), []byte("carillon data directory 1\n"), 0o640))
		},
		"half": func(dir string, from *backup.Reader) error { return receiveNext(dir, from) },
		"log begun": func(dir string, from *backup.Reader) error {
			return errors.Join(receiveAll(dir, from), beginLog(dir, from.Header().Position))
		},
		"all but the mark": func(dir string, from *backup.Reader) error {
			return errors.Join(receiveAll(dir, from), beginLog(dir, from.Header().Position), datadir.NoteParts(dir, 0))
		},
	} {
		dir := filepath.Join(t.TempDir(), "restored")
		from, err := backup.NewReader(bytes.NewReader(b))
		if err == nil {
			err = os.Mkdir(dir, 0o750)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, datadir.RestoringName), nil, 0o640)
		}
		if err = errors.Join(err, step(dir, from)); err != nil {
			t.Fatal(err)
		}
		_, err = Start(t.Context(), Options{Dir: dir, Listen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Logger: discard})
		if !errors.Is(err, datadir.ErrRestoring) {
			t.Errorf("%s: started: %v", name, err)
		}
		if _, err := datadir.Restore(dir, bytes.NewReader(b[:len(b)-1]), discard); !errors.Is(err, backup.ErrTruncated) {
			t.Errorf("%s: restored from a backup that was cut: %v", name, err)
		}
		if done, err := datadir.Restore(dir, bytes.NewReader(b), discard); err != nil || done.Jobs != 1 {
			t.Errorf("%s: restored again: %+v, %v", name, done, err)
		}
		if s, _, _ := startAlone(t, dir); s.Ready().Jobs != 1 {
			t.Errorf("%s: ready as %+v", name, s.Ready())
		}
	}
}

// receiveAll writes the files of a backup to the place of the store, as a restore does.
func receiveAll(dir string, from *backup.Reader) error {
	for {
		if err := receiveNext(dir, from); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func receiveNext(dir string, from *backup.Reader) error {
	f, err := from.Next()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, storePath, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	text, err := io.ReadAll(from)
	return errors.Join(err, os.WriteFile(path, text, 0o640))
}

// beginLog makes the log that a restore begins behind the backup.
func beginLog(dir string, at job.Position) error {
	log, err := wal.Open(wal.Options{Dir: filepath.Join(dir, logPath), Start: at, Logger: discard})
	if err != nil {
		return err
	}
	return log.Close()
}

// TestRestoreACluster: a cluster that was lost as a whole begins anew from a backup: one node with what was
// restored, and the others join it.
func TestRestoreACluster(t *testing.T) {
	t.Parallel()
	lost := newTroupe(t)
	a := lost.start("a", filepath.Join(t.TempDir(), "a"))
	mustPut(t, lost.client(false), natsJob("one", "@daily"))
	b := takeBackup(t, lost.client(false))
	if err := a.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if _, err := datadir.Restore(dir, bytes.NewReader(b), discard); err != nil {
		t.Fatal(err)
	}
	again := newTroupe(t)
	again.lease = shortLease
	if _, err := datadir.Found(datadir.FoundOptions{Dir: dir, ClusterName: "prod", Node: "a", Logger: discard}); err != nil {
		t.Fatal(err)
	}
	leader := again.start("a", dir)
	standby := again.start("b", filepath.Join(t.TempDir(), "b"))
	again.level(leader, standby)
	if _, err := again.client(false).Get(t.Context(), "one"); err != nil {
		t.Error(err)
	}
	if leader.Ready().Jobs != 1 || leader.Ready().Role != "leader" {
		t.Errorf("ready as %+v", leader.Ready())
	}
}
