package schedule

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"flag"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var zonesUpdate = flag.Bool("zones.update", false, "write zoneinfo.zip.gz anew from that of the toolchain")

// filesIn returns the files of an archive by name.
func filesIn(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string, len(r.File))
	for _, f := range r.File {
		content, err := fs.ReadFile(r, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(content)
	}
	return files
}

// writeZones compresses the toolchain's archive into the one that is embedded. Zones with the same rules for the future
// stand side by side, so that the compression finds what they share.
func writeZones(t *testing.T, archive []byte) {
	t.Helper()
	files := filesIn(t, archive)
	names := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(strings.Compare(lastLine(files[a]), lastLine(files[b])), strings.Compare(files[a], files[b]), strings.Compare(a, b))
	})
	var packed bytes.Buffer
	g, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(g)
	for _, name := range names {
		f, err := w.CreateRaw(&zip.FileHeader{
			Name: name, Method: zip.Store, CRC32: crc32.ChecksumIEEE([]byte(files[name])),
			CompressedSize64: uint64(len(files[name])), UncompressedSize64: uint64(len(files[name])),
		})
		if err == nil {
			_, err = io.WriteString(f, files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), g.Close(), os.WriteFile("zoneinfo.zip.gz", packed.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// lastLine returns the rule of a zone for the future.
func lastLine(zone string) string {
	lines := strings.Split(strings.TrimSuffix(zone, "\n"), "\n")
	return lines[len(lines)-1]
}

// TestEmbeddedZonesAreTheToolchains checks that the archive and its version are those that come with Go,
// and that all of it can be read. After an update of Go: go generate ./schedule, and the version.
func TestEmbeddedZonesAreTheToolchains(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "lib", "time")
	want, err := os.ReadFile(filepath.Join(dir, "zoneinfo.zip"))
	if err != nil {
		t.Skip(err)
	}
	if *zonesUpdate {
		writeZones(t, want)
		return
	}
	archive, err := unpackZones()
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(filesIn(t, archive), filesIn(t, want)) {
		t.Error("zoneinfo.zip.gz does not hold what the toolchain's does; run go generate ./schedule")
	}
	script, err := os.ReadFile(filepath.Join(dir, "update.bash"))
	if err != nil || !strings.Contains(string(script), "\nDATA="+embeddedVersion+"\n") {
		t.Errorf("the version of the toolchain's zones is not %s; see DATA in update.bash (%v)", embeddedVersion, err)
	}
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		if _, err := findEmbedded(f.Name); err != nil || f.UncompressedSize64 >= zoneBytesOfFile {
			t.Errorf("%s, of %d bytes: %v", f.Name, f.UncompressedSize64, err)
		}
	}
}

// TestEmbeddedZonesNeedNoMachine loads a zone where the machine's files say something else.
func TestEmbeddedZonesNeedNoMachine(t *testing.T) {
	dir := t.TempDir()
	tokyo := zoneData(t, "Asia/Tokyo")
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "Europe"), 0o700), os.WriteFile(filepath.Join(dir, "Europe", "Vienna"), tokyo, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ZONEINFO", dir)
	s := mustSchedule(t, "0 8 * * *", "Europe/Vienna")
	if at, _ := s.Next(rfc3339(t, "2026-01-10T00:00:00Z"), 0); at != rfc3339(t, "2026-01-10T07:00:00Z") {
		t.Errorf("08:00 in Vienna is %s, want 07:00Z", at)
	}
}

// zoneData returns the embedded data of a zone.
func zoneData(t *testing.T, name string) []byte {
	t.Helper()
	data, err := EmbeddedZoneData(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestZoneDigests checks that digests differ exactly where rules differ.
func TestZoneDigests(t *testing.T) {
	renamed := NewZones("test", "", func(name string) (*time.Location, error) {
		switch name {
		case "Europe/Berlin":
			return time.LoadLocationFromTZData(name, zoneData(t, "Europe/Berlin"))
		case "Europe/Paris":
			return time.LoadLocationFromTZData(name, zoneData(t, "Africa/Cairo"))
		}
		return nil, errNoZone
	})
	all := EmbeddedZones()
	cases := []struct {
		what   string
		a, b   uint64
		differ bool
	}{
		{"the same zone from two sources", all.Digest("Europe/Berlin"), renamed.Digest("Europe/Berlin"), false},
		{"two names of one zone", all.Digest("Asia/Calcutta"), all.Digest("Asia/Kolkata"), false},
		{"other data under the name", all.Digest("Europe/Paris"), renamed.Digest("Europe/Paris"), true},
		{"an hour apart", all.Digest("Europe/Berlin"), all.Digest("Europe/Athens"), true},
		{"UTC and a zone without changes", all.Digest("UTC"), all.Digest("Etc/GMT-2"), true},
		{"no such zone", all.Digest("Mars/Olympus"), 0, false},
	}
	for _, c := range cases {
		if (c.a != c.b) != c.differ {
			t.Errorf("%s: %x and %x, want them to differ: %t", c.what, c.a, c.b, c.differ)
		}
	}
	if renamed.Version() != ZonesUnknown || all.Version() != embeddedVersion || all.Source() != ZonesEmbedded {
		t.Errorf("versions %s and %s, source %s", renamed.Version(), all.Version(), all.Source())
	}
}

// TestDigestsIgnoreTheFormOfFiles checks that the machine's files, which hold more of the same, have the digests of the
// embedded ones where both have the same rules.
func TestDigestsIgnoreTheFormOfFiles(t *testing.T) {
	same, known := 0, 0
	for _, name := range []string{"Europe/Berlin", "Asia/Tokyo", "America/New_York", "Australia/Sydney", "Africa/Casablanca"} {
		data, err := os.ReadFile(filepath.Join("/usr/share/zoneinfo", filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		loc, err := time.LoadLocationFromTZData(name, data)
		if err != nil {
			continue
		}
		if known++; digestOf(loc) == EmbeddedZones().Digest(name) {
			same++
		}
	}
	if known == 0 {
		t.Skip("this machine has no zones")
	}
	if same == 0 {
		t.Errorf("none of %d zones of this machine has the digest of the embedded one", known)
	}
}

func TestZonesOfSpecs(t *testing.T) {
	cases := []struct {
		spec Spec
		want []string
	}{
		{Spec{Expr: "0 8 * * *"}, nil},
		{Spec{Expr: "0 8 * * *", Zone: "UTC"}, nil},
		{Spec{Expr: "0 8 * * *", Zone: "Europe/Berlin"}, []string{"Europe/Berlin"}},
		{Spec{Expr: "CRON_TZ=Asia/Tokyo 0 8 * * *"}, []string{"Asia/Tokyo"}},
		{Spec{Expr: "0 8 * * *\nCRON_TZ=Asia/Tokyo 0 9 * * *\nCRON_TZ=UTC 0 7 * * *", Zone: "Europe/Berlin"}, []string{"Europe/Berlin", "Asia/Tokyo"}},
	}
	for _, c := range cases {
		s, err := Parse(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range []Spec{c.spec, s.Spec()} {
			if got := spec.Zones(); !slices.Equal(got, c.want) {
				t.Errorf("%+v is read in %v, want %v", spec, got, c.want)
			}
		}
	}
}

func BenchmarkZoneDigest(b *testing.B) {
	loc, err := EmbeddedZones().Location("America/New_York")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		digestOf(loc)
	}
}
