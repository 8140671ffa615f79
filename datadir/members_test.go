package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

var membersTexts = map[string]string{ // what a file has, and what is said about it; "" is taken
	`{"version":1,"cluster_id":"` + idOne + `","nodes":["a","b"]}`: "",
	`{"version":1,"cluster_id":"` + idTwo + `","nodes":["a"]}`:     "",
	`{"version":2,"cluster_id":"` + idOne + `","shards":[]}`:       "newer release",
	`{"version":0,"cluster_id":"` + idOne + `","nodes":["a"]}`:     "damaged",
	`{}`: "damaged",
	``:   "damaged",
	`{"version":1,"cluster_id":"` + idOne + `","nodes":["a b"]}`:             `"a b"`,
	`{"version":1,"cluster_id":"12","nodes":[]}`:                             "damaged",
	`{"version":1,"cluster_id":"` + idOne + `","color":"red"}`:               "damaged",
	`{"version":1,"nodes":["` + strings.Repeat("a", membersBytesMax) + `"]}`: "damaged",
}

// TestMembersFilesThatCannotBeRead: a damaged file is refused with the way out, and only one of a later version
// counts as a newer release's.
func TestMembersFilesThatCannotBeRead(t *testing.T) {
	for text, want := range membersTexts {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "MEMBERS"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadMembers(dir, idOne)
		if want == "" && err != nil {
			t.Errorf("%s: %v", text, err)
		} else if want != "" {
			testkit.Refuses(t, err, want, dir)
		}
		if isNewer := want == "newer release"; errors.Is(err, ErrMembersVersion) != isNewer {
			t.Errorf("%s: %v; ErrMembersVersion is wanted: %t", text, err, isNewer)
		}
	}
}

// TestMembersAreKept: a node reads back the members of its cluster, and none of another one.
func TestMembersAreKept(t *testing.T) {
	dir := t.TempDir()
	want := Members{Nodes: []string{"a", "b"}, Term: 3, Renewal: 7}
	if err := WriteMembers(dir, idOne, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadMembers(dir, idOne)
	if err != nil || !slices.Equal(got.Nodes, want.Nodes) || got.Term != want.Term || got.Renewal != want.Renewal {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if other, err := ReadMembers(dir, idTwo); err != nil || len(other.Nodes) != 0 {
		t.Errorf("of another cluster: %+v, %v", other, err)
	}
}
