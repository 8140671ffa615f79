//go:build unix

package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

// newDir returns an open directory of secrets with some tenants.
func newDir(t *testing.T, tenants ...string) (*Dir, string) {
	t.Helper()
	path := t.TempDir()
	for _, tenant := range tenants {
		if err := os.Mkdir(filepath.Join(path, tenant), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return d, path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRead: the value is the file without one line end, at most.
func TestRead(t *testing.T) {
	d, path := newDir(t, "billing")
	for text, want := range map[string]string{
		"value": "value", "value\n": "value", "value\r\n": "value", "value\n\n": "value\n", "value\r": "value\r", " v \n": " v ", "a\nb": "a\nb",
		strings.Repeat("x", job.SecretBytesMax): strings.Repeat("x", job.SecretBytesMax),
	} {
		write(t, filepath.Join(path, "billing", "hook"), text)
		if got, err := d.Read("billing/hook"); err != nil || string(got) != want {
			t.Errorf("%.20q: %.20q, %v", text, got, err)
		}
	}
}

// TestReadRefuses: nothing but a regular file below the directory of the tenant is read, and no error says where the
// directory is, or what is in a file.
func TestReadRefuses(t *testing.T) {
	d, path := newDir(t, "billing", "crm")
	at := func(name string) string { return filepath.Join(path, "billing", name) }
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, "planted")
	write(t, filepath.Join(path, "crm", "hook"), "planted")
	write(t, at("large"), strings.Repeat("p", job.SecretBytesMax+1))
	write(t, at("empty"), "\n")
	for link, to := range map[string]string{"absolute": outside, "up": "../crm/hook", "around": "../billing/../../" + filepath.Base(path) + "/crm/hook", "loop": "loop"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(path, "linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []job.SecretRef{
		"billing/missing", "billing/absolute", "billing/up", "billing/around", "billing/loop", "billing/directory", "billing/pipe", "billing/large", "billing/empty",
		"linked/outside", "nobody/hook", "billing/..", "billing/../crm/hook", "../outside", "billing", "", "/etc/passwd",
	} {
		value, err := d.Read(ref)
		if err == nil || strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), "outside below") {
			t.Errorf("%q: %q, %v", ref, value, err)
		}
		if _, _, ok := ref.Cut(); ok && err != nil && !strings.Contains(err.Error(), string(ref)) {
			t.Errorf("the error does not name %s: %v", ref, err)
		}
	}
}

// TestReadNeverWaits: a pipe in the place of a directory is refused at once.
func TestReadNeverWaits(t *testing.T) {
	d, path := newDir(t, "billing")
	if err := syscall.Mkfifo(filepath.Join(path, "crm"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused := make(chan error, 1)
	read := func(ref job.SecretRef) {
		_, err := d.Read(ref)
		refused <- err
	}
	go read("crm/hook")
	testkit.Refuses(t, testkit.Receive(t, refused), "secret crm/hook: not a directory")
	if err := errors.Join(os.RemoveAll(path), syscall.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	go read("billing/hook")
	testkit.Refuses(t, testkit.Receive(t, refused), "secret billing/hook: not a directory")
}

// TestReadRefusesWhatOthersMayChange: a file that other users may read or replace is no secret. The error does not say where
// the directory is.
func TestReadRefusesWhatOthersMayChange(t *testing.T) {
	for want, modes := range map[string]struct{ dir, file os.FileMode }{
		"": {0o755, 0o440}, "may read or change it (mode 0644)": {0o700, 0o644}, "is open to them (mode 0777)": {0o777, 0o600},
	} {
		d, path := newDir(t, "billing")
		write(t, filepath.Join(path, "billing", "hook"), "planted")
		if err := errors.Join(os.Chmod(filepath.Join(path, "billing", "hook"), modes.file), os.Chmod(filepath.Join(path, "billing"), modes.dir)); err != nil {
			t.Fatal(err)
		}
		value, err := d.Read("billing/hook")
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), path)) {
			t.Errorf("%q, %v; want %q", value, err, want)
		}
	}
}

// TestLinksWithin: the links of a volume of Kubernetes are followed, and the exchange of all files at once is seen.
func TestLinksWithin(t *testing.T) {
	d, path := newDir(t, "billing")
	tenant := filepath.Join(path, "billing")
	for _, version := range []string{"..v1", "..v2"} {
		if err := os.Mkdir(filepath.Join(tenant, version), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(tenant, version, "hook"), "of "+version)
		next := filepath.Join(tenant, "..next")
		if err := os.Symlink(version, next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(tenant, "..data")); err != nil {
			t.Fatal(err)
		}
		if version == "..v1" {
			if err := os.Symlink("..data/hook", filepath.Join(tenant, "hook")); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := d.Read("billing/hook"); err != nil || string(got) != "of "+version {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
}

// TestCache: a file that does not change is read once; any change of it is seen, also one of the same length within
// the resolution of its time.
func TestCache(t *testing.T) {
	d, path := newDir(t, "t")
	file := filepath.Join(path, "t", "s")
	read := func(want string) []byte {
		t.Helper()
		got, err := d.Read("t/s")
		if err != nil || string(got) != want {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
		return got
	}
	write(t, file, "one")
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	read("one")
	write(t, file, "two")
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	read("two") // a young file is not cached
	d.now = func() time.Time { return info.ModTime().Add(time.Hour) }
	first := read("two")
	if second := read("two"); &first[0] != &second[0] {
		t.Error("a file that did not change is read again")
	}
	other := file + ".next"
	write(t, other, "six")
	if err := os.Chtimes(other, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, file); err != nil {
		t.Fatal(err)
	}
	read("six")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if value, err := d.Read("t/s"); err == nil {
		t.Errorf("of a file that is gone: %q", value)
	}
}

// TestCacheIsBounded in number and in bytes.
func TestCacheIsBounded(t *testing.T) {
	d, path := newDir(t, "t")
	d.now = func() time.Time { return time.Now().Add(time.Hour) }
	large := bytes.Repeat([]byte("x"), job.SecretBytesMax)
	for n := range cachedMax + 200 {
		name := fmt.Sprintf("s%d", n)
		text := "small"
		if n%4 == 0 && n < 800 {
			text = string(large)
		}
		write(t, filepath.Join(path, "t", name), text)
		if _, err := d.Read(job.SecretRef("t/" + name)); err != nil {
			t.Fatal(err)
		}
		total := 0
		for _, c := range d.cached {
			total += len(c.value)
		}
		if len(d.cached) > cachedMax || total > cachedBytesMax || total != d.bytes {
			t.Fatalf("%d files with %d bytes are cached, counted as %d", len(d.cached), total, d.bytes)
		}
	}
}

// TestOpenRefuses what is no directory of secrets.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file, shared := filepath.Join(dir, "file"), filepath.Join(dir, "shared")
	write(t, file, "x")
	if err := os.Mkdir(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777); err != nil {
		t.Fatal(err)
	}
	known := filepath.Join(dir, "known")
	if err := os.MkdirAll(filepath.Join(known, "billing"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(known, "billing", "hook"), "x")
	if err := os.Chmod(filepath.Join(known, "billing", "hook"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: "no directory", shared: "may write", filepath.Join(dir, "missing"): "no such file", known: "billing/hook: other users of this machine may read",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
