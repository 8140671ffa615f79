package server_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/snapshot"
)

// TestDamagedBlockOfTheStoreIsNamed: a bit of a block of the store flips. Either the start names the file of the store, or the server
// ends and names it when a request reads that block; no request is refused as an internal error for ever.
func TestDamagedBlockOfTheStoreIsNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := start(t, dir)
	_, c := connect(t, s)
	for i := range 300 {
		_, _, err := c.Put(t.Context(), client.Job{
			Name: fmt.Sprintf("job/%d", i*7919%1009), Schedule: fmt.Sprintf("%d %d * * *", i%60, i%24), Target: client.Target{Kind: "nats", Subject: fmt.Sprintf("out.%d", i*7919)},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(datadir.ShardDir(dir, 0), datadir.StoreName, "*.sst"))
	if err != nil || len(tables) != 1 {
		t.Fatalf("tables %v, %v; want one", tables, err)
	}
	whole, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	const flips = 8
	refused, ended := 0, 0
	for i := range flips {
		copied := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		spoilt := append([]byte(nil), whole...)
		spoilt[len(whole)*(i+1)/(flips+2)] ^= 0x10
		if err := os.WriteFile(filepath.Join(datadir.ShardDir(copied, 0), datadir.StoreName, filepath.Base(tables[0])), spoilt, 0o600); err != nil {
			t.Fatal(err)
		}
		err, running := endOf(t, copied)
		damage := (*snapshot.DamageError)(nil)
		switch {
		case err == nil: // what the bit is of was not read
		case !errors.As(err, &damage) || damage.File != filepath.Base(tables[0]):
			t.Errorf("flip %d: %v; want the damage of the table", i, err)
		case running:
			ended++
		default:
			refused++
		}
	}
	if refused == 0 || ended == 0 {
		t.Errorf("%d of %d starts were refused, and %d servers ended; want some of both", refused, flips, ended)
	}
}

// endOf starts a server and reads all jobs. It returns why the start was refused, or why the server ended; nil if a read found
// nothing amiss.
func endOf(t *testing.T, dir string) (err error, running bool) {
	t.Helper()
	s, err := server.Start(t.Context(), server.Options{Dir: dir, HTTPListen: "127.0.0.1:0", Listen: "127.0.0.1:0"})
	if err != nil {
		return err, false
	}
	defer func() { _ = s.Close(t.Context()) }()
	_, c := connect(t, s)
	for i := range 300 {
		if _, err := c.Get(t.Context(), fmt.Sprintf("job/%d", i*7919%1009)); err != nil {
			return s.Wait(), true
		}
	}
	return nil, true
}
