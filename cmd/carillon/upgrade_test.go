package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-io/carillon/bus/bustest"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/client/clienttest"
	"github.com/carillon-io/carillon/testkit"
)

var upgradeFlag = flag.Bool("upgrade", false, "build a binaries of other releases, and roll a cluster to them and back")

// sourceChange is a text of a file, which has it once, and what stands in its place in another release.
type sourceChange struct{ file, old, new string }

// newerRows are the changes of this source that make a release whose rows of jobs can have version 10: rows whose
// description begins with newerMark.
var newerRows = []sourceChange{
	{"job/codec.go", "	rowVersion9 = 9\n", "	rowVersion9 = 9\n	rowVersion10 = 10\n"},
	{"job/row_version.go", "const RowsVersion = rowVersion9", "const RowsVersion = rowVersion10"},
	{"job/row_version.go", "	if field := d.secretField(); field != \"\" {", "	if strings.HasPrefix(d.Description, \"" + newerMark + "\") {\n		return rowVersion10, \"description\"\n	}\n	if field := d.secretField(); field != \"\" {"},
	{"job/row_version.go", "	\"fmt\"\n", "	\"fmt\"\n	\"strings\"\n"},
	{"job/codec_job.go", "	v := append(b, version)\n	v = binary", "	if bytes.Contains(definition, []byte(\"" + newerMark + "\")) {\n		if version = rowVersion10; isZero {\n			definition = append(definition, 0)\n		}\n		if !hasSecrets {\n			definition = append(definition, 0, 0, 0, 0)\n		}\n	}\n	v := append(b, version)\n	v = binary"},
	{"job/codec_job.go", "newRowReaderUpTo(rowVersion6, value)\n	var rec", "newRowReaderUpTo(rowVersion10, value)\n	var rec"},
	{"job/codec_job.go", "import \"encoding/binary\"", "import (\n	\"bytes\"\n	\"encoding/binary\"\n)"},
}

// withoutSlots are the changes of this source that make a release that does not know ids with slots.
var withoutSlots = []sourceChange{{"job/row_version.go", "const RowsVersion = rowVersion9", "const RowsVersion = rowVersion4"}}

// newerMark begins the description of a job that only the newer release can hold.
const newerMark = "of a newer release"

// buildRelease builds the command under a version, with changes of the source, and returns its path.
func buildRelease(t *testing.T, version string, changed map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	overlay, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "carillon")
	text, err := json.Marshal(map[string]map[string]string{"Replace": changed})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", overlay, "-ldflags", "-X main.version="+version, "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", version, err, out)
	}
	return binary
}

// buildChanged builds the command under a version, as some changes make it.
func buildChanged(t *testing.T, version string, changes []sourceChange) string {
	t.Helper()
	return buildRelease(t, version, changeSources(t, changes))
}

// TestUpgradeSources: the changes that make other releases of this source find their places in it.
func TestUpgradeSources(t *testing.T) {
	for _, changes := range [][]sourceChange{newerRows, withoutSlots} {
		changeSources(t, changes)
	}
}

// changeSources makes changed copies of files of this source. It returns their paths by those of the files.
func changeSources(t *testing.T, changes []sourceChange) map[string]string {
	t.Helper()
	dir, changed := t.TempDir(), make(map[string]string)
	for i, c := range changes {
		original, err := filepath.Abs(filepath.Join("..", "..", c.file))
		if err != nil {
			t.Fatal(err)
		}
		from := original
		if already := changed[original]; already != "" {
			from = already
		}
		text, err := os.ReadFile(from)
		if err != nil || strings.Count(string(text), c.old) != 1 {
			t.Fatalf("%s has the old text %d times, want once: %q, %v", c.file, strings.Count(string(text), c.old), c.old, err)
		}
		changed[original] = filepath.Join(dir, fmt.Sprint(i, ".go"))
		if err := os.WriteFile(changed[original], []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}

// rig is a cluster of processes at one NATS server.
type rig struct {
	t    *testing.T
	url  string
	dirs string
	cl   *client.Client
	more []string // further flags of serve
}

// process is a running node.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	errs   bytes.Buffer // what it logged; to be read when it has exited
}

func newRig(t *testing.T) *rig {
	t.Helper()
	s := bustest.RunWith(t, &server.Options{JetStream: true, StoreDir: t.TempDir()})
	_, cl := clienttest.Connect(t, s.ClientURL())
	return &rig{t: t, url: s.ClientURL(), dirs: t.TempDir(), cl: cl}
}

// start starts a node, and returns when it is ready or has ended.
func (s *rig) start(binary, node string) *process {
	s.t.Helper()
	c := &process{exited: make(chan struct{})}
	c.cmd = exec.Command(binary, append([]string{"serve", "--data", filepath.Join(s.dirs, node), "--nats", s.url, "--http-listen", "127.0.0.1:0",
		"--cluster-name", "upgrade", "--node", node, "--replicas", "1", "--checkpoint-every", "1s"}, s.more...)...)
	c.cmd.Stderr = &c.errs
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		if lines := bufio.NewScanner(out); lines.Scan() {
			close(ready)
			for lines.Scan() {
			}
		}
		_ = c.cmd.Wait()
		close(c.exited)
	}()
	s.t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	select {
	case <-ready:
	case <-c.exited:
	case <-time.After(patience):
		s.t.Fatalf("%s is not ready", node)
	}
	return c
}

// stop ends a node by SIGTERM.
func (s *rig) stop(c *process) {
	s.t.Helper()
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	s.ended(c)
}

// ended waits until a node has ended, and returns its log.
func (s *rig) ended(c *process) string {
	s.t.Helper()
	select {
	case <-c.exited:
		return c.errs.String()
	case <-time.After(patience):
		s.t.Fatal("the node has not ended")
		return ""
	}
}

// eventually waits until the cluster's status has a property.
func (s *rig) eventually(what string, holds func(*client.Cluster) bool) {
	s.t.Helper()
	testkit.Retry(s.t, what, func(ctx context.Context) error {
		st, err := s.cl.Status(ctx)
		if err == nil && (st.Cluster == nil || !holds(st.Cluster)) {
			err = fmt.Errorf("the cluster is %+v", st.Cluster)
		}
		return err
	})
}

// leads reports whether a node leads, and another node of a version is a member.
func leads(leader, other, version string) func(*client.Cluster) bool {
	return func(c *client.Cluster) bool {
		return c.Node == leader && c.Role == "leader" && slices.ContainsFunc(c.Nodes, func(n client.ClusterNode) bool {
			return n.Node == other && n.Role == "standby" && n.Version == version && n.SilentMS < 1000
		})
	}
}

func (s *rig) put(name, description string) error {
	_, _, err := s.cl.Put(s.t.Context(), client.Job{
		Name: name, Description: description, Schedule: "@every 1h", Target: client.Target{Kind: "nats", Subject: "upgrade.log"},
	})
	return err
}

func (s *rig) mustPut(name, description string) {
	s.t.Helper()
	if err := s.put(name, description); err != nil {
		s.t.Fatalf("put %s: %v", name, err)
	}
}

// wantNodeNamed checks that a job whose row a node cannot read is refused, and that the refusal names the node.
func (s *rig) wantNodeNamed(node string) {
	s.t.Helper()
	if err := s.put("third", newerMark); err == nil || !strings.Contains(err.Error(), "node "+node) {
		s.t.Fatalf("a row that %s cannot read: %v, want a refusal that names it", node, err)
	}
}

// wantRefused waits until the node has ended by itself because of newer rows.
func (s *rig) wantRefused(c *process) {
	s.t.Helper()
	if log := s.ended(c); c.cmd.ProcessState.ExitCode() == 0 || !strings.Contains(log, "rows of a newer release") {
		s.t.Fatalf("a node that cannot read the rows has ended with %d and\n%s\nwant a refusal that names the newer release", c.cmd.ProcessState.ExitCode(), log)
	}
}

// remembersStopped checks that the older node a counts while it is stopped: for the leader b, which is restarted, and for
// a node that has never heard it. It returns the processes that it leaves.
func (s *rig) remembersStopped(old, newer string, a, b *process) (*process, *process) {
	s.t.Helper()
	s.stop(a)
	s.stop(b)
	b = s.start(newer, "b")
	s.eventually("b leads again", func(c *client.Cluster) bool { return c.Node == "b" && c.Role == "leader" })
	s.wantNodeNamed("a")
	d := s.start(newer, "d")
	s.eventually("d stands by", leads("b", "d", "v2"))
	s.stop(b)
	s.eventually("d leads", func(c *client.Cluster) bool { return c.Node == "d" && c.Role == "leader" })
	s.wantNodeNamed("a")
	b = s.start(newer, "b")
	s.eventually("b stands by", leads("d", "b", "v2"))
	s.stop(d)
	a = s.start(old, "a")
	s.eventually("a follows again", leads("b", "a", "v1"))
	return a, b
}

// TestUpgrade rolls a cluster of two nodes to a release with newer rows and back, with real binaries. While a node
// cannot read them, the leader refuses to write them; once they are written, an older node ends by name, at its start, at
// the next commit and after joining, before it has applied any, and what it has is whole for the newer release.
func TestUpgrade(t *testing.T) {
	if !*upgradeFlag {
		t.Skip("run it by make upgrade")
	}
	old, newer := buildRelease(t, "v1", nil), buildChanged(t, "v2", newerRows)
	s := newRig(t)
	a := s.start(old, "a")
	b := s.start(old, "b")
	s.mustPut("first", newerMark) // to this release it is a text like any

	s.stop(b)
	b = s.start(newer, "b")
	s.eventually("b stands by with v2", leads("a", "b", "v2"))
	if _, err := s.cl.Handover(t.Context(), 0, "b"); err != nil {
		t.Fatal(err)
	}
	s.eventually("b leads, a stands by", leads("b", "a", "v1"))
	s.mustPut("second", "of any release")
	s.wantNodeNamed("a")
	s.eventually("a warning names a", func(c *client.Cluster) bool {
		return len(c.Warnings) > 0 && strings.Contains(strings.Join(c.Warnings, "\n"), "node a (v1)")
	})

	a, b = s.remembersStopped(old, newer, a, b)

	// The way back is open as long as no newer row is written.
	s.stop(b)
	s.eventually("a leads", func(c *client.Cluster) bool { return c.Node == "a" && c.Role == "leader" })
	b = s.start(old, "b")
	s.eventually("both are old again", leads("a", "b", "v1"))
	s.stop(b)
	s.start(newer, "b")
	s.eventually("b stands by with v2", leads("a", "b", "v2"))

	s.stop(a)
	s.eventually("b leads", func(c *client.Cluster) bool { return c.Node == "b" && c.Role == "leader" })
	a = s.start(newer, "a")
	s.eventually("both are newer", leads("b", "a", "v2"))
	s.mustPut("fourth", newerMark)
	s.stop(a)

	s.wantRefused(s.start(old, "a")) // its store has the row already
	s.wantRefused(s.start(old, "c")) // it gets the row from the stream, or when it joins
	s.mustPut("fifth", newerMark)    // what a and c read does not matter any more
	s.start(newer, "a")
	s.eventually("a stands by again", leads("b", "a", "v2"))
	if _, err := s.cl.Handover(t.Context(), 0, "a"); err != nil {
		t.Fatal(err)
	}
	s.eventually("a leads, with all that was put", leads("a", "b", "v2"))
	for _, name := range []string{"first", "second", "fourth", "fifth"} {
		if _, err := s.cl.Get(t.Context(), name); err != nil {
			t.Errorf("get %s: %v", name, err)
		}
	}
}
