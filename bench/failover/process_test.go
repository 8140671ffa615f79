//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func hang(t *testing.T) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := spawn(site{}, "idle", filepath.Join(t.TempDir(), "idle.log"), self, []string{hangCommand})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	if err := p.awaitReady(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLives ends a process in each way that a scenario knows.
func TestLives(t *testing.T) {
	p := hang(t)
	if p.isGone() {
		t.Fatal("it is gone before anybody ended it")
	}
	if err := p.pause(); err != nil {
		t.Fatal(err)
	}
	if err := p.goOn(); err != nil {
		t.Fatal(err)
	}
	p.kill()
	if !p.isGone() || !strings.Contains(p.ended().Error(), "killed") {
		t.Errorf("killed: %v", p.ended())
	}
	if err := p.stop(); err == nil {
		t.Error("a process that is gone was stopped")
	}
	if err := hang(t).stop(); err == nil || !strings.Contains(err.Error(), "ended badly") {
		t.Errorf("a process that dies of SIGTERM: %v", err)
	}
}

// TestNeverReady waits for a process that ends before it is ready.
func TestNeverReady(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := spawn(site{}, "broken", filepath.Join(t.TempDir(), "broken.log"), self, []string{natsCommand, "--listen", "nowhere"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.awaitReady(); err == nil || !strings.Contains(err.Error(), "missing port") {
		t.Errorf("want the end of its log, got %v", err)
	}
}
