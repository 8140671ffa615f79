package main

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/carillon-io/carillon/bus/bustest"
)

// TestHangupDuringTheStart: SIGHUP does not end a server that waits for its peers, with or without jobs of its own, and
// SIGTERM ends it in good order.
func TestHangupDuringTheStart(t *testing.T) {
	for name, more := range map[string][]string{"node": {"--node", "a"}, "witness": {"--witness"}} {
		t.Run(name, func(t *testing.T) {
			ports := bustest.FreeAddrs(t, 3)
			args := append([]string{"serve", "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0",
				"--cluster-name", "z", "--cluster-listen", ports[0], "--routes", strings.Join(ports, ",")}, more...)
			cmd := exec.Command("carillon", args...)
			log, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = cmd.Process.Kill() }()
			seen := ""
			for lines := bufio.NewScanner(log); !strings.Contains(seen, "waiting for peers"); seen += lines.Text() + "\n" {
				if !lines.Scan() {
					t.Fatalf("the server does not wait for its peers:\n%s", seen)
				}
			}
			go func() { _, _ = io.Copy(io.Discard, log) }()
			for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGHUP, syscall.SIGTERM} {
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatalf("%s cannot be sent: %v", s, err)
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("after SIGHUP and SIGTERM the server ended with %v", err)
			}
		})
	}
}
