//go:build unix

package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/testkit"
)

const (
	fewFiles    = 256 // files that the server may have open
	fewFilesEnv = "CARILLON_TEST_FEW_FILES"
)

// TestFilesStayFree opens more connections over NATS or HTTP than the server may have files, and keeps them
// open. The store can still open the files for its checkpoints, and earlier clients are answered.
func TestFilesStayFree(t *testing.T) {
	for _, way := range []string{"nats", "http"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			ready := startWithFewFiles(t, dir)
			c, err := client.Connect(ready.NATS, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			addr := strings.TrimPrefix(ready.NATS, "nats://")
			if way == "http" {
				addr = strings.TrimPrefix(ready.HTTP, "http://")
			}
			for range 3 * fewFiles / 2 {
				conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
			}
			job := client.Job{Name: "a", Schedule: "@every 1s", Target: client.Target{Kind: "nats", Subject: "out"}}
			if _, _, err := c.Put(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			waitForTable(t, dir)
			if _, err := c.Trigger(t.Context(), client.TriggerRequest{Name: "a"}); err != nil {
				t.Errorf("after a checkpoint: %v", err)
			}
		})
	}
}

// waitForTable waits until a checkpoint has made a file of the store.
func waitForTable(t *testing.T, dir string) {
	t.Helper()
	testkit.Until(t, "the store has made a checkpoint", func() bool {
		tables, err := filepath.Glob(filepath.Join(dir, "shards", "0", "store", "*.sst"))
		if err != nil {
			t.Fatal(err)
		}
		return len(tables) > 0
	})
}

// startWithFewFiles runs a server in a process of its own until the test ends, and checks that it ends well.
func startWithFewFiles(t *testing.T, dir string) (ready server.Ready) {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Args[0], "-test.run", "^TestServerWithFewFiles$")
	cmd.Env = append(os.Environ(), fewFilesEnv+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	t.Cleanup(func() {
		in.Close()
		rest, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server: %v\n%s", err, rest)
		}
	})
	line, err := lines.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &ready) != nil {
		t.Fatalf("the server says %q, %v", line, err)
	}
	return ready
}

// TestServerWithFewFiles is the program of that process: it serves until its input ends.
func TestServerWithFewFiles(t *testing.T) {
	dir := os.Getenv(fewFilesEnv)
	if dir == "" {
		t.Skip("TestFilesStayFree runs this")
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: fewFiles, Max: fewFiles}); err != nil {
		t.Fatal(err)
	}
	opts := options(dir)
	opts.CheckpointEvery = time.Second
	s, err := server.Start(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s.Ready())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s\n", text)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("a part failed: %v", err)
	}
}
