package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/testkit"
)

const (
	idOne = "00112233445566778899aabbccddeeff"
	idTwo = "ffeeddccbbaa99887766554433221100"
)

// mustOpenIdentity opens a directory's identity, and keeps it, which must be possible.
func mustOpenIdentity(t *testing.T, dir string, o Options) Identity {
	t.Helper()
	return mustHold(t, dir, o).get()
}

// mustHold is mustOpenIdentity for a test that changes the identity.
func mustHold(t *testing.T, dir string, o Options) *currentIdentity {
	t.Helper()
	id, err := openIdentity(dir, o)
	held := &currentIdentity{id: id}
	if err == nil {
		err = held.keep()
	}
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// TestIdentityOfANode follows a directory from its first start: alone it has no name, in a cluster it gets
// one for good, and after it has met the cluster it belongs to that one.
func TestIdentityOfANode(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "NODE")
	alone := mustOpenIdentity(t, dir, Options{})
	if _, err := os.Stat(path); err == nil || alone.Node != "" {
		t.Errorf("a node alone is %+v, and has a file: %v", alone, err)
	}
	_, err := alone.adopted(idOne, false, false)
	testkit.Refuses(t, err, "alone")

	first := mustOpenIdentity(t, dir, Options{ClusterName: "prod"})
	if job.ValidateTenant(first.Node) != nil || first.Cluster != "prod" || first.ClusterID != "" {
		t.Errorf("drawn: %+v", first)
	}
	if again := mustOpenIdentity(t, dir, Options{ClusterName: "prod"}); again.Node != first.Node {
		t.Errorf("drawn again: %q after %q", again.Node, first.Node)
	}
	mustOpenIdentity(t, dir, Options{ClusterName: "prod", Node: first.Node})

	_, err = openIdentity(dir, Options{ClusterName: "prod", Node: "other"})
	testkit.Refuses(t, err, path, first.Node, `"other"`, "--node")
	if once, err := openIdentity(dir, Options{}); err != nil || once != (Identity{}) {
		t.Errorf("alone, before it met the cluster: %+v, %v", once, err)
	}
	if typo := mustOpenIdentity(t, dir, Options{ClusterName: "prdo"}); typo.Node != first.Node || typo.Cluster != "prdo" {
		t.Errorf("by a mistyped name: %+v", typo)
	}
	held := mustHold(t, dir, Options{ClusterName: "prod"})

	testkit.Refuses(t, held.adopt("short", false, false), "32 hex digits")
	testkit.Refuses(t, held.adopt(strings.ToUpper(idTwo), false, false), "32 hex digits")
	for range 2 { // the second changes nothing
		if err := held.adopt(idOne, false, false); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Refuses(t, held.adopt(idTwo, false, false), path, idOne, idTwo)
	met := mustOpenIdentity(t, dir, Options{ClusterName: "prod"})
	if met.ClusterID != idOne {
		t.Errorf("after the cluster was met: %+v", met)
	}
	_, err = met.adopted(idTwo, false, false)
	testkit.Refuses(t, err, path, idOne, idTwo)
	_, err = openIdentity(dir, Options{})
	testkit.Refuses(t, err, path, first.Node, `"prod"`, "--cluster-name prod", "delete that file")
	_, err = openIdentity(dir, Options{ClusterName: "test"})
	testkit.Refuses(t, err, path, `"prod"`, `"test"`, "--data")
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), idOne) {
		t.Errorf("the file has %q, %v", text, err)
	}
	if _, err := os.Stat(path + ".tmp"); err == nil {
		t.Error("a temporary file was left behind")
	}
}

// TestAdoptThatCannotBeWritten changes nothing in memory either.
func TestAdoptThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	held := mustHold(t, dir, Options{ClusterName: "prod", Node: "a"})
	if err := os.Mkdir(filepath.Join(dir, "NODE.tmp"), 0o750); err != nil {
		t.Fatal(err)
	}
	testkit.Refuses(t, held.adopt(idOne, false, false), "NODE.tmp")
	if id := held.get(); id.ClusterID != "" || mustOpenIdentity(t, dir, Options{ClusterName: "prod"}).ClusterID != "" {
		t.Errorf("the id was taken: %+v", id)
	}
}

func TestDrawnNamesAreTokens(t *testing.T) {
	for host, want := range map[string]string{
		"db-1": "db-1-", "DB1.Example.com": "db1-example-com-", "": "node-", "...": "node-",
		"größe": "gr--e-", strings.Repeat("x", 300): strings.Repeat("x", 57) + "-",
	} {
		got := drawNode(host)
		if err := job.ValidateTenant(got); err != nil || !strings.HasPrefix(got, want) || len(got) != len(want)+6 {
			t.Errorf("%q gives %q, %v; want %s and six digits", host, got, err, want)
		}
	}
	drawn := map[string]bool{}
	for range 10 {
		drawn[drawNode("a")] = true
	}
	if len(drawn) < 5 {
		t.Errorf("ten draws gave %d names", len(drawn))
	}
}

var identityTexts = map[string]string{ // what a file has, and what is said about it; "" is taken
	`{"version":1,"node":"a","cluster":"prod","cluster_id":""}` + "\n":       "",
	`{"version":1,"node":"a","cluster":"prod","cluster_id":"` + idOne + `"}`: "",
	``: "no JSON object",
	`{"version":1,"node":"a","cluster":"prod","cluster_id":""`: "no JSON object",
	`{"version":1,"node":"a","cluster":"prod"} trailing`:       "no JSON object",
	`[1]`:                          "no JSON object",
	`{}`:                           "version 0",
	`{"version":4,"members":[{}]}`: "version 4",
	`{"version":0}`:                "version 0",
	`{"version":3,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"founder","gives_up":"` + idTwo + `","loses":7}`:        "",
	`{"version":3,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"founder","divided_lsn":24,"divided_epoch":2}`:          "",
	`{"version":3,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"founder"}`:                                             "damaged",
	`{"version":3,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"founder","loses":7}`:                                   "damaged",
	`{"version":3,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"founder","divided_epoch":2}`:                           "damaged",
	`{"version":3,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"discarding","divided_lsn":24}`:                         "damaged",
	`{"version":2,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"founder","gives_up":"` + idTwo + `","divided_lsn":24}`: "damaged",
	`{"version":1,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","divided_lsn":24}`:                                              "damaged",
	`{"version":2,"node":"a","cluster":"prod","cluster_id":"","state":"new"}`:                                                              "",
	`{"version":2,"node":"a","cluster":"prod","cluster_id":"","state":"witness"}`:                                                          "--witness",
	`{"version":2,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"founder","gives_up":"` + idTwo + `"}`:                  "",
	`{"version":2,"node":"a","cluster":"prod","cluster_id":"` + idOne + `","state":"discarding"}`:                                          "",
	`{"version":2,"node":"a","cluster":"prod","cluster_id":"","state":"founder"}`:                                                          "damaged",
	`{"version":2,"node":"a","cluster":"prod","cluster_id":"` + idOne + `"}`:                                                               "damaged",
	`{"version":1,"node":"a","cluster":"prod","cluster_id":"","state":"new"}`:                                                              "damaged",
	`{"version":2,"node":"a","cluster":"prod","cluster_id":"","state":"king"}`:                                                             "damaged",
	`{"version":1,"node":"a","cluster":"prod","color":"red"}`:                                                                              "color",
	`{"version":1,"node":"a","cluster":""}`:                                                                                                "no names",
	`{"version":1,"node":"a b","cluster":"prod"}`:                                                                                          `"a b"`,
	`{"version":1,"node":"a","cluster":"prod","cluster_id":"12"}`:                                                                          `"12"`,
	`{"version":1,"node":7,"cluster":"prod"}`:                                                                                              "damaged",
	`{"version":1,"node":"` + strings.Repeat("a", 5000) + `"}`:                                                                             "more than 4096 bytes",
}

func TestIdentityFilesThatCannotBeRead(t *testing.T) {
	for text, want := range identityTexts {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "NODE"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openIdentity(dir, Options{ClusterName: "prod"})
		if want == "" && err != nil {
			t.Errorf("%s: %v", text, err)
		} else if want != "" {
			testkit.Refuses(t, err, want, dir)
		}
		if strings.Contains(want, "damaged") {
			testkit.Refuses(t, err, "from a copy of this directory", "an empty one and the old name (--node)")
		}
		if isVersion := strings.HasPrefix(want, "version"); errors.Is(err, ErrIdentityVersion) != isVersion {
			t.Errorf("%s: %v; ErrIdentityVersion is wanted: %t", text, err, isVersion)
		}
		if after, err := os.ReadFile(filepath.Join(dir, "NODE")); err != nil || string(after) != text {
			t.Errorf("%s: the file was changed to %q, %v", text, after, err)
		}
	}
}

// FuzzIdentity: whatever the bytes, they are refused or they are a node that reads the same once it is
// written again.
func FuzzIdentity(f *testing.F) {
	for text := range identityTexts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		id, err := decodeIdentity(text)
		if err != nil {
			return
		}
		id.dir = t.TempDir()
		id, err = id.write()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadIdentity(id.dir)
		if err != nil || again != id {
			t.Errorf("%+v is read back as %+v, %v", id, again, err)
		}
	})
}
