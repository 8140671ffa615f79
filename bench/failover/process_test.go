//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/bench/kit"
)

func hang(t *testing.T) *kit.Process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := site{}.spawn("idle", filepath.Join(t.TempDir(), "idle.log"), self, []string{hangCommand})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if err := p.AwaitReady(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLives ends a process in each way that a scenario knows.
func TestLives(t *testing.T) {
	p := hang(t)
	if p.IsGone() {
		t.Fatal("it is gone before anybody ended it")
	}
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	if !p.IsGone() || !strings.Contains(p.Ended().Error(), "killed") {
		t.Errorf("killed: %v", p.Ended())
	}
	if err := p.Stop(); err == nil {
		t.Error("a process that is gone was stopped")
	}
	if err := hang(t).Stop(); err == nil || !strings.Contains(err.Error(), "ended badly") {
		t.Errorf("a process that dies of SIGTERM: %v", err)
	}
}

// TestNeverReady waits for a process that ends before it is ready.
func TestNeverReady(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := site{}.spawn("broken", filepath.Join(t.TempDir(), "broken.log"), self, []string{natsCommand, "--listen", "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.AwaitReady(); err == nil || !strings.Contains(err.Error(), "missing port") {
		t.Errorf("want the end of its log, got %v", err)
	}
}
