package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/testkit"
)

// TestWitnessWithFullDisk: a witness whose disk is full ends, and logs why. It is skipped where the test may
// not mount a small disk.
func TestWitnessWithFullDisk(t *testing.T) {
	t.Parallel()
	nodes := nodeOptions(t, 3)
	nodes[2].Witness = true
	if err := os.MkdirAll(nodes[2].Dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("carillon-test", nodes[2].Dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(nodes[2].Dir, syscall.MNT_DETACH) })
	w, buses := startWitness(t, nodes[2], nodes[:2]...)
	js, err := jetstream.New(buses[0].API())
	if err != nil {
		t.Fatal(err)
	}
	testkit.Retry(t, "create a stream on three servers", func(ctx context.Context) error {
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "LOG", Subjects: []string{"log"}, Replicas: 3})
		return err
	})
	fillDisk(t, filepath.Join(nodes[2].Dir, "filler"))
	ended := make(chan error, 1)
	go func() { ended <- w.Wait() }()
	for end, message := time.After(30*time.Second), make([]byte, 100_000); ; {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, _ = js.Publish(ctx, "log", message) // the other two store it
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, bus.ErrJetStreamLost) {
				t.Errorf("it ends with %v", err)
			}
			return
		case <-end:
			t.Fatal("the witness is still there")
		default:
		}
	}
}

// fillDisk writes a file that uses up all free space.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 1<<20); len(block) > 0; {
		switch _, err := f.Write(block); {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			t.Fatal(err)
		}
	}
}
