package datadir

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// spoiled are contents with which each file that has a check cannot be used: one bit of a whole one is flipped. passed says that
// a start goes on. alone says that a node alone reads the file, and a node of a cluster does not.
var spoiled = map[string]struct {
	text          string
	passed, alone bool
}{
	RestoringName:    {},
	DividingName:     {},
	NodeName:         {text: `{"version":1,"node":"a","cluster":"prod","cluster_id":"` + "p0112233445566778899aabbccddeeff" + `"}` + "\n"},
	PartsName:        {text: "carillon data directory 6\nshard 0\n"},
	InstallationName: {text: `{"version":1,"id":"` + "p0112233445566778899aabbccddeeff" + `"}` + "\n", alone: true},
	ProvenName:       {text: `{"version":1,"cluster:"prod"}` + "\n", passed: true},
	SessionKeyName:   {text: "p0\n", passed: true, alone: true},
	JoiningName:      {text: "CJOI"},
	MembersName:      {text: `{"version":1,"cluster_id":"` + "p0112233445566778899aabbccddeeff" + `","nodes":["b"]}` + "\n"},
	AncestorsName:    {text: "CANC", passed: true},
	NumberName:       {text: "carillon shard 2\n"},
}

// TestFilesAreCheckedAsByAStart: for each file of which a table has a check, CheckFiles names the file exactly if it cannot be
// used, and calls it passed over exactly if a start goes on. A check without an example here fails.
func TestFilesAreCheckedAsByAStart(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{false, true} {
		dir := t.TempDir()
		o := Options{Dir: dir, Logger: discard}
		if !alone {
			o.ClusterName = "prod"
		}
		s, err := openIn(o, ShardOptions{})
		mustDo(t, err)
		if !alone {
			mustDo(t, s.Directory().MeetCluster(0, idOne, false))
		}
		mustClose(t, s)
		if found, err := CheckFiles(dir); len(found) > 0 || err != nil {
			t.Fatalf("%v, %v", found, err)
		}
		for at, table := range map[string][]entry{"": rootEntries, ShardDir("", 0): shardEntries} {
			for _, e := range table {
				want, ok := spoiled[e.name]
				if e.check != nil && !ok {
					t.Errorf("%s has a check, and no example", e.name)
				}
				if ok && want.alone == alone {
					image := testkit.CopyDir(t, dir)
					o.Dir = image
					checkSpoiled(t, o, filepath.Join(image, at, e.name), want.text, want.passed)
				}
			}
		}
	}
}

// checkSpoiled writes a file, and compares what CheckFiles says of it with what a start does.
func checkSpoiled(t *testing.T, o Options, path, text string, passed bool) {
	t.Helper()
	mustDo(t, os.WriteFile(path, []byte(text), 0o600))
	before := tree(t, o.Dir)
	found, err := CheckFiles(o.Dir)
	if filepath.Base(path) == PartsName {
		testkit.Refuses(t, err, path)
	} else if err != nil || len(found) != 1 || found[0].Path != path || found[0].Passed != passed || !strings.Contains(found[0].Error(), path) {
		t.Errorf("%s: %v, %v", path, found, err)
	}
	if !maps.Equal(before, tree(t, o.Dir)) {
		t.Errorf("%s: the check has changed something", path)
	}
	s, err := openIn(o, ShardOptions{})
	if (err == nil) != passed {
		t.Errorf("%s: the start: %v", path, err)
	}
	if err == nil {
		mustClose(t, s)
	}
}

// TestDamagedPartsIsPassedOver: a start writes the file again.
func TestDamagedPartsIsPassedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustClose(t, openTestData(t, dir))
	checkSpoiledParts(t, dir, true)
	mustClose(t, openTestData(t, dir))
	checkSpoiledParts(t, dir, false)
}

func checkSpoiledParts(t *testing.T, dir string, spoil bool) {
	t.Helper()
	path := filepath.Join(dir, PartsName)
	if spoil {
		mustDo(t, os.WriteFile(path, []byte("carillon data directory 2\nshard p\n"), 0o600))
	}
	found, err := CheckFiles(dir)
	if err != nil || (len(found) == 1) != spoil || spoil && (!found[0].Passed || found[0].Path != path) {
		t.Errorf("%v, %v", found, err)
	}
}

// TestCheckFilesOfAPart: the directory of a shard is checked by itself, with the number of its place.
func TestCheckFilesOfAPart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustClose(t, openTestData(t, dir))
	path := filepath.Join(inShard(dir), NumberName)
	mustDo(t, os.WriteFile(path, []byte("carillon shard 2\n"), 0o600))
	found, err := CheckFiles(inShard(dir))
	if err != nil || len(found) != 1 || found[0].Path != path {
		t.Errorf("%v, %v", found, err)
	}
	elsewhere := testkit.CopyDir(t, inShard(dir))
	if found, err := CheckFiles(elsewhere); err != nil || len(found) > 0 {
		t.Errorf("of a copy: %v, %v", found, err)
	}
}

// TestNamesAreDocumented: the tables have the names of the page of the format, and no others.
func TestNamesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/format/datadir.md")
	mustDo(t, err)
	_, root, _ := strings.Cut(string(page), "| at the root |")
	root, shard, _ := strings.Cut(root, "| in `shards/<number>/` |")
	shard, _, _ = strings.Cut(shard, "\n\n")
	for text, table := range map[string][]entry{root: rootEntries, shard: shardEntries} {
		var in []string
		for _, e := range table {
			in = append(in, e.name)
		}
		var documented []string
		for line := range strings.Lines(text) {
			cells := strings.Split(line, "|")
			if len(cells) < 3 {
				continue
			}
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
				if name := strings.TrimSuffix(m[1], "/"); !strings.ContainsAny(name, "</") {
					documented = append(documented, name)
				}
			}
		}
		slices.Sort(in)
		slices.Sort(documented)
		if !slices.Equal(in, documented) {
			t.Errorf("the table has %v, and the page %v", in, documented)
		}
	}
}
