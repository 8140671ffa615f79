//go:build unix

package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// nodeEnv is the environment variable that names the node which a child process runs.
const nodeEnv = "CARILLON_TEST_NODE"

// TestNodeProcess is not a test: it runs a node in a child process, for the tests that suspend one. Its last
// line says why the node has ended.
func TestNodeProcess(t *testing.T) {
	text := os.Getenv(nodeEnv)
	if text == "" {
		t.Skip("it is run by other tests")
	}
	var n struct {
		Name, Dir, URL string
		Shards         int
	}
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	o := (&troupe{url: n.URL}).options(n.Name, n.Dir)
	if n.Shards > 1 {
		o.Shards, o.SpreadEvery, o.placeEvery = n.Shards, 100*time.Millisecond, 50*time.Millisecond
	}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready", s.Ready().Role)
	fmt.Println("http", s.Ready().HTTP)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the test has ended
		_ = s.Close(context.Background())
	}()
	err = s.Wait()
	_ = s.Close(context.Background())
	fmt.Println("ended", err)
}

// nodeProcess is a node, or a NATS server, in a process of its own.
type nodeProcess struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string // that it writes
}

// startProcess starts a node in a process of its own, and returns it when it is ready, and with what role.
func (p *troupe) startProcess(name, dir string) (*nodeProcess, string) {
	p.t.Helper()
	return p.startProcessOf(name, dir, 1)
}

// startProcessOf is startProcess in a cluster of so many shards.
func (p *troupe) startProcessOf(name, dir string, shards int) (*nodeProcess, string) {
	p.t.Helper()
	text, err := json.Marshal(map[string]any{"Name": name, "Dir": dir, "URL": p.url, "Shards": shards})
	if err != nil {
		p.t.Fatal(err)
	}
	n := startChild(p.t, "TestNodeProcess", nodeEnv+"="+string(text))
	return n, n.line("ready ")
}

// startChild runs a test of this program in a child process, with a variable in its environment.
func startChild(t *testing.T, test, variable string) *nodeProcess {
	t.Helper()
	n := &nodeProcess{t: t, cmd: exec.Command(os.Args[0], "-test.run", "^"+test+"$"), lines: make(chan string, 100)}
	n.cmd.Env = append(os.Environ(), variable)
	if os.Getenv("CARILLON_TEST_LOG") != "" {
		n.cmd.Stderr = os.Stderr
	}
	if _, err := n.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := n.cmd.StdoutPipe()
	if err == nil {
		err = n.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait()
	})
	go func() {
		defer close(n.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			n.lines <- lines.Text()
		}
	}()
	return n
}

// line waits for a line that begins so, and returns its rest.
func (n *nodeProcess) line(prefix string) string {
	n.t.Helper()
	for end := time.After(20 * time.Second); ; {
		select {
		case text, ok := <-n.lines:
			if rest, found := strings.CutPrefix(text, prefix); found {
				return rest
			}
			if !ok {
				n.t.Fatalf("the process has ended, and did not say %q", prefix)
			}
		case <-end:
			n.t.Fatalf("the process did not say %q", prefix)
		}
	}
}

// stop suspends the process, and start resumes it.
// stop returns when the process stands still. A signal alone may take effect later, and a NATS server could acknowledge
// a commit that the test makes after it.
func (n *nodeProcess) stop() {
	n.t.Helper()
	n.signal(syscall.SIGSTOP)
	testkit.Until(n.t, "the process stands still", func() bool {
		status := syscall.WaitStatus(0)
		_, err := syscall.Wait4(n.cmd.Process.Pid, &status, syscall.WUNTRACED|syscall.WNOHANG, nil)
		return err == nil && status.Stopped()
	})
}

func (n *nodeProcess) start() { n.signal(syscall.SIGCONT) }

func (n *nodeProcess) signal(s syscall.Signal) {
	n.t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil {
		n.t.Fatal(err)
	}
}

// TestReplacedLeader: the process of a leader stands still, another one takes its place under the same name, and it
// wakes up. It ends, and says why; the other one leads on.
func TestReplacedLeader(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	dir := t.TempDir()
	old, role := p.startProcess("a", dir)
	if role != "leader" {
		t.Fatal(role)
	}
	p.put("x")
	old.stop()
	a := p.start("a", t.TempDir())
	testkit.Until(p.t, "the second process leads", p.leads(a))
	term := p.info(a).Cluster.Term
	old.start()
	if why := old.line("ended "); !strings.Contains(why, "this process was replaced") || !strings.Contains(why, "has the lease") || !strings.Contains(why, "--node") {
		t.Errorf("the first process ends with %q", why)
	}
	p.put("y")
	if st := p.info(a); st.Role != "leader" || st.Cluster.Term != term {
		t.Errorf("%s in term %d, and was leader in term %d", st.Role, st.Cluster.Term, term)
	}
	if saved, _ := filepath.Glob(filepath.Join(dir, "shards", "0", "diverged-*")); len(saved) > 1 {
		t.Errorf("the first process put aside %v", saved)
	}
	p.eachTickOnce("x", 5)
}

// TestReplacedStandby: a standby is replaced in the same way. The process that was started later stays, and the
// leader goes on leading.
func TestReplacedStandby(t *testing.T) {
	t.Parallel()
	p := newTroupe(t)
	b := p.start("b", t.TempDir())
	old, role := p.startProcess("a", t.TempDir())
	if role != "standby" {
		t.Fatal(role)
	}
	p.put("x")
	old.stop()
	a := p.start("a", t.TempDir())
	old.start()
	if why := old.line("ended "); !strings.Contains(why, "this process was replaced") || !strings.Contains(why, "was started later") {
		t.Errorf("the first process ends with %q", why)
	}
	p.level(b, a)
	if st := p.info(b); st.Role != "leader" || st.Cluster.Term != 1 {
		t.Errorf("b is %s in term %d", st.Role, st.Cluster.Term)
	}
}
