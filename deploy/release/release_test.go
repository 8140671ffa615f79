package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// made is the time of everything in the releases of these tests.
var made = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestSameBytesAgain builds a release twice, the second time from a copy of the sources in another
// directory: every byte is the same. The archive holds what it should, and its binary says the version.
func TestSameBytesAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the binary twice")
	}
	src, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "another", "place")
	copySources(t, src, elsewhere)
	first, second := build(t, src), build(t, elsewhere)
	for name, content := range first {
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s differs: %d and %d bytes", name, len(content), len(second[name]))
		}
	}
	if len(first) != 3 || len(second) != 3 {
		t.Fatalf("%d and %d files; want an archive, a bill and the checksums", len(first), len(second))
	}
	licences := checkArchive(t, first["carillon_1.2.3_linux_amd64.tar.gz"])
	checkBill(t, first["carillon_1.2.3_linux_amd64.spdx.json"], licences)
	want := `^[0-9a-f]{64}  carillon_1.2.3_linux_amd64.spdx.json\n[0-9a-f]{64}  carillon_1.2.3_linux_amd64.tar.gz\n$`
	if !regexp.MustCompile(want).Match(first[checksums]) {
		t.Errorf("checksums:\n%s", first[checksums])
	}
}

// build makes a release for one platform and returns its files by name.
func build(t *testing.T, src string) map[string][]byte {
	t.Helper()
	r := release{version: "v1.2.3", made: made, src: src, out: t.TempDir(), platforms: []platform{{"linux", "amd64"}}}
	if err := r.make(t.Context()); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(r.out, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// copySources copies what a build reads.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	for _, pattern := range []string{"*", "*/*.*", "*/*/*.*", "*/*/*/*.*"} {
		paths, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			name, err := filepath.Rel(from, path)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "bin") {
				continue
			}
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			target := filepath.Join(to, name)
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(target, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// checkArchive returns the licences in the archive.
func checkArchive(t *testing.T, zipped []byte) (licences string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var binary int64
	for archive := tar.NewReader(z); ; {
		head, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimPrefix(head.Name, "carillon_1.2.3_linux_amd64/"))
		if !head.ModTime.Equal(made) || head.Uid != 0 || head.Uname != "" {
			t.Errorf("%s: time %s, owner %d %q", head.Name, head.ModTime, head.Uid, head.Uname)
		}
		switch names[len(names)-1] {
		case "carillon":
			checkBinary(t, head, archive)
			binary = head.Size
		case "man/carillon.1":
			checkManual(t, archive)
		case licencesName:
			licences = checkLicences(t, archive)
		}
	}
	if image := binary + int64(len(licences)) + rootsBytes; image > imageBytesMax {
		t.Errorf("the image has %d bytes; want at most %d", image, imageBytesMax)
	}
	want := "CHANGELOG.md LICENSE LICENSES.txt README.md carillon completion/carillon.bash completion/carillon.fish completion/carillon.zsh man/carillon.1 systemd/carillon-worker.service systemd/carillon.env systemd/carillon.service systemd/carillon.sysusers systemd/worker.env"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("the archive holds %s; want %s", got, want)
	}
	return licences
}

// imageBytesMax is what the image may have, 44 MiB: the binary, the licences, and rootsBytes of roots to trust.
const (
	imageBytesMax = 44 << 20
	rootsBytes    = 250_000
)

func checkBinary(t *testing.T, head *tar.Header, content io.Reader) {
	t.Helper()
	binary, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	if head.Mode != 0o755 {
		t.Errorf("the binary has mode %o", head.Mode)
	}
	if !bytes.Contains(binary, []byte("v1.2.3")) {
		t.Error("the binary does not know its version")
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "CGO_ENABLED" && s.Value != "0" || strings.HasPrefix(s.Key, "vcs") {
			t.Errorf("built with %s=%s", s.Key, s.Value)
		}
	}
}

// checkBill checks the bill, and that each module in it has a licence.
func checkBill(t *testing.T, text []byte, licences string) {
	t.Helper()
	var d spdxDocument
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.SPDXVersion != "SPDX-2.3" || d.Creation.Created != "2026-11-20T12:00:00Z" {
		t.Errorf("version %s, created %s", d.SPDXVersion, d.Creation.Created)
	}
	ids, purls := map[string]bool{documentID: true}, map[string]bool{}
	for _, p := range d.Packages {
		if ids[p.ID] || !regexp.MustCompile(`^SPDXRef-[a-zA-Z0-9.-]+$`).MatchString(p.ID) {
			t.Errorf("the id %q is there twice, or has other letters than SPDX allows", p.ID)
		}
		ids[p.ID] = true
		name, _, _ := strings.Cut(p.Refs[0].Locator, "@")
		purls[name] = true
		if p.ID != binaryID && p.Name != "stdlib" && !strings.Contains(licences, "\n"+p.Name+" "+p.Version+" ") {
			t.Errorf("%s %s has no licence in the archive", p.Name, p.Version)
		}
	}
	for _, want := range []string{"github.com/carillon-io/carillon", "stdlib", "github.com/nats-io/nats-server/v2", "github.com/cockroachdb/pebble/v2", "golang.org/x/sys"} {
		if !purls["pkg:golang/"+want] {
			t.Errorf("%s is not in the bill", want)
		}
	}
	for _, r := range d.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("%s %s %s: one of them is not in the bill", r.From, r.Type, r.To)
		}
	}
	if len(d.Relationships) != len(d.Packages) {
		t.Errorf("%d relationships of %d packages", len(d.Relationships), len(d.Packages))
	}
}

// TestArchiveIsSorted: the order in which files are given is of no account.
func TestArchiveIsSorted(t *testing.T) {
	a, b := file{"a", 0o644, []byte("1")}, file{"b/c", 0o755, []byte("2")}
	var one, other bytes.Buffer
	if err := writeArchive(&one, "d", []file{a, b}, made); err != nil {
		t.Fatal(err)
	}
	if err := writeArchive(&other, "d", []file{b, a}, made); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), other.Bytes()) {
		t.Error("the archives differ")
	}
	if head := one.Bytes()[:10]; head[3] != 0 || !bytes.Equal(head[4:8], make([]byte, 4)) {
		t.Errorf("gzip's header has a name or a time: %x", head)
	}
}

func TestPurl(t *testing.T) {
	for want, m := range map[string][2]string{
		"pkg:golang/github.com/burntsushi/toml@v1.4.1":             {"github.com/BurntSushi/toml", "v1.4.1"},
		"pkg:golang/github.com/a/b@v2.0.0%2Bincompatible":          {"github.com/a/b", "v2.0.0+incompatible"},
		"pkg:golang/go.yaml.in/yaml/v3@v3.0.0-20200101000000-0123": {"go.yaml.in/yaml/v3", "v3.0.0-20200101000000-0123"},
	} {
		if got := purl(m[0], m[1]).Locator; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestBadWords: what is no platform and what is no version is refused by name.
func TestBadWords(t *testing.T) {
	for _, list := range []string{"", "linux", "plan9/amd64", "linux/amd64,linux/amd64", "linux/amd64,"} {
		if p, err := parsePlatforms(list); err == nil {
			t.Errorf("%q was read as %v", list, p)
		}
	}
	for _, version := range []string{"", "a/b", "v1 2", "../x"} {
		r := release{version: version, out: filepath.Join(t.TempDir(), "dist")}
		if err := r.make(t.Context()); err == nil || !strings.Contains(err.Error(), "want one such as") {
			t.Errorf("version %q: %v", version, err)
		}
	}
}

// checkManual: the manual page is one, and of this version.
func checkManual(t *testing.T, page io.Reader) {
	t.Helper()
	text, err := io.ReadAll(page)
	if err != nil || !strings.HasPrefix(string(text), `.TH "CARILLON" "1" "" "carillon v1.2.3"`) || !strings.Contains(string(text), `.SS "carillon serve"`) {
		t.Errorf("%v; the manual page begins %.80q", err, text)
	}
}

// checkLicences: the file has the licence of Go, those of code that was copied into modules, and each text once.
func checkLicences(t *testing.T, content io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\ngo LICENSE\n", " zstd/internal/xxhash/LICENSE.txt\n", "client_golang", " NOTICE\n"} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the licences lack %q", want)
		}
	}
	if n := bytes.Count(text, []byte("TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION")); n == 0 || n > 12 {
		t.Errorf("the licence of Apache is there %d times", n)
	}
	return string(text)
}

// TestLicenceFiles: the names by which licences are found.
func TestLicenceFiles(t *testing.T) {
	for name, want := range map[string]bool{
		"LICENSE": true, "LICENSE.txt": true, "License": true, "LICENCE-MIT": true, "ZSTD_LICENSE": true, "COPYING": true, "NOTICE": true, "PATENTS": true,
		"LICENSES.md": false, "licensed.txt": false, "unlicense": false, "main.txt": false, "noticeboard": false,
	} {
		if licenceFile.MatchString(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

// TestImageIsForLinux: the files of an image are those of a platform that images have.
func TestImageIsForLinux(t *testing.T) {
	r := release{version: "v1.2.3", out: filepath.Join(t.TempDir(), "image"), platforms: []platform{{"darwin", "arm64"}}}
	if err := r.makeImage(t.Context()); err == nil || !strings.Contains(err.Error(), "for Linux") {
		t.Errorf("an image for a Mac: %v", err)
	}
}
