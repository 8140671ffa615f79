package access

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carillon-io/carillon/testkit"
)

// kept is a file of rights with its keeper and its log.
type kept struct {
	t       *testing.T
	path    string
	log     *testkit.Buffer
	changes atomic.Int32
	*Keeper
}

func keep(t *testing.T, text string) *kept {
	t.Helper()
	k := &kept{t: t, path: filepath.Join(t.TempDir(), "auth.yaml"), log: new(testkit.Buffer)}
	k.write(text)
	var err error
	if k.Keeper, err = Open(k.path, slog.New(slog.NewTextHandler(k.log, nil)), func() { k.changes.Add(1) }); err != nil {
		t.Fatal(err)
	}
	return k
}

// write replaces the file, as careful programs do.
func (k *kept) write(text string) {
	k.t.Helper()
	if err := os.WriteFile(k.path+".new", []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
	if err := os.Rename(k.path+".new", k.path); err != nil {
		k.t.Fatal(err)
	}
}

// look does what Watch does at each tick, and says what came of it.
func (k *kept) look() string {
	if !k.hasChanged() {
		return "same"
	}
	before := k.Refused()
	k.Reload()
	if k.Refused() > before {
		return "bad"
	}
	return "read"
}

func (k *kept) expect(what, look string, bad bool) {
	k.t.Helper()
	if got := k.look(); got != look {
		k.t.Errorf("%s: the file is %s; want %s", what, got, look)
	}
	if got := k.look(); got != "same" {
		k.t.Errorf("%s: looked at once more, the file is %s", what, got)
	}
	if got := len(k.Warnings()); got != 0 != bad {
		k.t.Errorf("%s: %d warnings", what, got)
	}
}

const one, two = "principals: [{name: a}]", "principals: [{name: a}, {name: b}]"

// TestReload changes the file in each way.
func TestReload(t *testing.T) {
	k := keep(t, one)
	k.expect("at first", "same", false)
	k.write(two)
	k.expect("changed", "read", false)
	k.write("principals: [{nam: secret-name}]")
	k.expect("bad", "bad", true)
	if k.Table().Principals() != 2 || k.changes.Load() != 1 || k.Refused() != 1 {
		t.Errorf("a bad file: %d principals, %d changes, %d refused", k.Table().Principals(), k.changes.Load(), k.Refused())
	}
	if text := k.log.String(); strings.Count(text, "level=ERROR") != 1 || !strings.Contains(text, `line 1: the key \"nam\" of a principal is unknown; did you mean \"name\"?`) {
		t.Errorf("the log has %s", text)
	}
	if w := k.Warnings()[0]; strings.Contains(w, k.path) || strings.Contains(w, "nam\"") {
		t.Errorf("the warning is %q", w)
	}
	k.write(one)
	k.expect("good again", "read", false)
	if err := os.Remove(k.path); err != nil {
		t.Fatal(err)
	}
	k.expect("removed", "bad", true)
	k.write(two)
	k.expect("back", "read", false)
	if k.Table().Principals() != 2 || k.changes.Load() != 3 {
		t.Errorf("at last: %d principals, %d changes", k.Table().Principals(), k.changes.Load())
	}
}

// TestNoPrincipals: a server that recognizes its callers by the file alone takes no file without a principal, at the start and
// later. Principals that come by groups are principals.
func TestNoPrincipals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	for _, text := range []string{"tenants:\n", "tenants: {a: }\n", "principals: []\n", "tenants: {a: }\nprincipals:\n"} {
		write(text)
		if _, err := Open(path, quiet, nil, (*Table).CheckPrincipals); err == nil || !strings.Contains(err.Error(), "auth.yaml: the file has no principals") {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := Open(path, quiet, nil); err != nil {
			t.Errorf("%q at a NATS server of someone else: %v", text, err)
		}
	}
	write("oidc: {issuer: \"https://id.example.com\", client_id: c}\nprincipals: [{name: ops, oidc_group: ops, grants: [{tenant: \"*\", role: admin}]}]\n")
	k, err := Open(path, quiet, nil, (*Table).CheckPrincipals)
	if err != nil {
		t.Fatalf("a principal by a group: %v", err)
	}
	write("tenants:\n")
	k.Reload()
	if k.Table().Principals() != 1 || k.Refused() != 1 || len(k.Warnings()) != 1 || !k.IsFileBad() {
		t.Errorf("cut short while it is in force: %d principals, %d refused", k.Table().Principals(), k.Refused())
	}
}

// TestInForce: the figures are those of the file in force, and its time is when that was read.
func TestInForce(t *testing.T) {
	begun := time.Now()
	k := keep(t, one)
	principals, tenants, first := k.InForce()
	if principals != 1 || tenants != 1 || first.Before(begun) || time.Now().Before(first) {
		t.Errorf("at first: %d principals, %d tenants, read at %v", principals, tenants, first)
	}
	k.write("principals: [{nam: a}]")
	k.Reload()
	if _, _, at := k.InForce(); !at.Equal(first) {
		t.Errorf("a bad file counts as read at %v", at)
	}
	k.write("tenants: {billing: }\n" + two)
	k.Reload()
	if principals, tenants, at := k.InForce(); principals != 2 || tenants != 2 || !at.After(first) {
		t.Errorf("then: %d principals, %d tenants, read at %v", principals, tenants, at)
	}
	if principals, tenants, at := (*Keeper)(nil).InForce(); principals+tenants != 0 || !at.IsZero() {
		t.Error("a server without rights has a file in force")
	}
}

// TestModes: a file that others may read or change is bad, at the start and when only its mode changes.
func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such modes")
	}
	k := keep(t, one)
	for mode, bad := range map[os.FileMode]bool{0o644: true, 0o604: true, 0o602: true, 0o601: true, 0o620: true, 0o660: true, 0o640: false, 0o400: false} {
		if err := os.Chmod(k.path, mode); err != nil {
			t.Fatal(err)
		}
		want := "read"
		if bad {
			want = "bad"
		}
		k.expect(mode.String(), want, bad)
		_, err := Open(k.path, k.logger, nil)
		if (err != nil) != bad || bad && !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("a start with the mode %v: %v", mode, err)
		}
	}
}

// TestNoFile: what is no file is refused at once.
func TestNoFile(t *testing.T) {
	for path, want := range map[string]string{t.TempDir(): "it is a directory; want a regular file", filepath.Join(t.TempDir(), "missing"): "no such file"} {
		if _, err := Open(path, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), path+": "+want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if runtime.GOOS == "linux" {
		if _, err := Open("/dev/zero", slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), "it is a device; want a regular file") {
			t.Errorf("a device: %v", err)
		}
	}
}

// TestReloadUnderLoad reads the file again and again while requests are authorized. Each sees one whole file.
func TestReloadUnderLoad(t *testing.T) {
	k := keep(t, one)
	text := [2]string{}
	for i, role := range []string{"viewer", "admin"} {
		text[i] = "principals: [{name: a, token_sha256: " + HashToken("a") + ", grants: [{tenant: default, role: " + role + "}]}]"
	}
	k.write(text[0])
	k.Reload()
	ctx, cancel := context.WithCancel(t.Context())
	var askers sync.WaitGroup
	defer askers.Wait()
	defer cancel()
	for range 4 {
		askers.Go(func() {
			for ctx.Err() == nil {
				if err := k.Authorize(k.Table().WhoseToken("a"), "default", "jobs.get"); err != nil {
					t.Error(err)
					return
				}
				_ = k.Authorize(k.Table().WhoseToken("a"), "default", "jobs.delete")
				k.Warnings()
			}
		})
	}
	for i := range 100 {
		k.write(text[i%2])
		k.Reload()
		if k.May(k.Table().WhoseToken("a"), "default", "jobs.delete") != (i%2 == 1) {
			t.Fatal("the rights are not those of the file")
		}
	}
}

// TestWatch: a change is found without being told.
func TestWatch(t *testing.T) {
	k := keep(t, one)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { k.Watch(ctx); close(ended) }()
	k.write(two)
	testkit.Until(t, "the change is found", func() bool { return k.Table().Principals() == 2 })
	cancel()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the watch does not end")
	}
}
