package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var made = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// command runs a program and returns what it prints.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// released builds the release of one architecture from the sources, and its packages, into a new directory.
func released(t *testing.T) string {
	t.Helper()
	dist := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "run", "./deploy/release",
		"--version", "v1.2.3", "--time", "1795176000", "--platforms", "linux/amd64", "--out", dist)
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pack(t, dist)
	return dist
}

func pack(t *testing.T, dist string) {
	t.Helper()
	v, err := parseVersion("v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	if err := (release{v, made, dist}).make(); err != nil {
		t.Fatal(err)
	}
}

const debName, rpmName = "carillon_1.2.3-1_amd64.deb", "carillon-1.2.3-1.x86_64.rpm"

// TestPackages builds a release and its packages, checks them with the programs of the distributions, and makes them
// again: every byte is the same.
func TestPackages(t *testing.T) {
	dist := released(t)
	sums := command(t, "sh", "-c", "cd '"+dist+"' && sha256sum -c SHA256SUMS")
	for _, name := range []string{debName, rpmName, "carillon_1.2.3_linux_amd64.tar.gz"} {
		if !strings.Contains(sums, name+": OK") {
			t.Errorf("no checksum of %s:\n%s", name, sums)
		}
	}
	t.Run("deb", func(t *testing.T) { checkDeb(t, filepath.Join(dist, debName)) })
	t.Run("rpm", func(t *testing.T) { checkRPM(t, filepath.Join(dist, rpmName)) })
	t.Run("same bytes again", func(t *testing.T) {
		before := read(t, filepath.Join(dist, debName), filepath.Join(dist, rpmName), filepath.Join(dist, "SHA256SUMS"))
		pack(t, dist)
		if !bytes.Equal(before, read(t, filepath.Join(dist, debName), filepath.Join(dist, rpmName), filepath.Join(dist, "SHA256SUMS"))) {
			t.Error("the packages of the same archives differ")
		}
	})
}

func read(t *testing.T, names ...string) []byte {
	t.Helper()
	var all []byte
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	return all
}

// checkDeb unpacks a package with dpkg, runs the binary that it installs, and changes the settings as an upgrade finds
// them.
func checkDeb(t *testing.T, name string) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("this machine has no dpkg-deb")
	}
	fields := command(t, "dpkg-deb", "--field", name)
	for _, want := range []string{"Package: carillon\n", "Version: 1.2.3-1\n", "Architecture: amd64\n", "Section: admin\n"} {
		if !strings.Contains(fields, want) {
			t.Errorf("no %q in\n%s", want, fields)
		}
	}
	root := t.TempDir()
	command(t, "dpkg-deb", "--extract", name, root)
	checkTree(t, root, formats[0])
	control := t.TempDir()
	command(t, "dpkg-deb", "--control", name, control)
	if got := string(read(t, filepath.Join(control, "conffiles"))); got != "/etc/carillon/carillon.env\n/etc/carillon/worker.env\n" {
		t.Errorf("settings that an upgrade keeps: %q", got)
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		command(t, "sh", "-n", filepath.Join(control, script))
	}
}

// checkRPM lists a package with rpm and unpacks it.
func checkRPM(t *testing.T, name string) {
	if _, err := exec.LookPath("rpm2cpio"); err != nil {
		t.Skip("this machine has no rpm2cpio; install.sh installs it on Debian")
	}
	if got := command(t, "rpm", "--query", "--package", "--queryformat", "%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{LICENSE}", name); got != "carillon 1.2.3 1 x86_64 Apache-2.0" {
		t.Errorf("it is %q", got)
	}
	if got := strings.Fields(command(t, "rpm", "--query", "--package", "--configfiles", name)); !slices.Equal(got, []string{"/etc/carillon/carillon.env", "/etc/carillon/worker.env"}) {
		t.Errorf("settings that an upgrade keeps: %q", got)
	}
	root := t.TempDir()
	command(t, "sh", "-c", "cd '"+root+"' && rpm2cpio '"+name+"' | cpio --extract --no-absolute-filenames --make-directories --preserve-modification-time --quiet")
	checkTree(t, root, formats[1])
}

// checkTree checks the installed files below a root: all that a package has is there with its mode, and nothing else.
func checkTree(t *testing.T, root string, f format) {
	t.Helper()
	var want, got []string
	for _, p := range f.contents() {
		want = append(want, p.to)
		info, err := os.Stat(filepath.Join(root, p.to))
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != p.mode {
			t.Errorf("%s has mode %v, want %v", p.to, info.Mode(), p.mode)
		}
	}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			got = append(got, strings.TrimPrefix(path, root))
		}
		return err
	})
	slices.Sort(want)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("files %q, want %q (%v)", got, want, err)
	}
	if got := command(t, filepath.Join(root, "usr/bin/carillon"), "version"); !strings.Contains(got, "v1.2.3") {
		t.Errorf("the binary says %q", got)
	}
	for _, unit := range []string{"carillon.service", "carillon-worker.service"} {
		text := string(read(t, filepath.Join(root, "usr/lib/systemd/system", unit)))
		if !strings.Contains(text, "ExecStart=/usr/bin/carillon ") || strings.Contains(text, "/usr/local") {
			t.Errorf("%s starts another binary:\n%s", unit, text)
		}
	}
}

// TestNoArchive finds nothing to pack.
func TestNoArchive(t *testing.T) {
	err := release{version{"1.2.3", "1.2.3"}, made, t.TempDir()}.make()
	if err == nil || !strings.Contains(err.Error(), "make release") {
		t.Errorf("error %v", err)
	}
}

// TestVersions reads versions of releases and of commits.
func TestVersions(t *testing.T) {
	for stamp, want := range map[string]version{
		"v1.2.3":             {"1.2.3", "1.2.3"},
		"v1.3.0-rc.1":        {"1.3.0-rc.1", "1.3.0-rc.1"},
		"6181249":            {"6181249", "0.0.0-git.6181249"},
		"6181249-dirty":      {"6181249-dirty", "0.0.0-git.6181249-dirty"},
		"v1.2.3-4-gabcdef01": {"1.2.3-4-gabcdef01", "1.2.3-4-gabcdef01"},
	} {
		if got, err := parseVersion(stamp); err != nil || got != want {
			t.Errorf("%s is %v (%v), want %v", stamp, got, err, want)
		}
	}
	for _, stamp := range []string{"", "v", "a b", "1/2"} {
		if got, err := parseVersion(stamp); err == nil {
			t.Errorf("%q is %v", stamp, got)
		}
	}
}
