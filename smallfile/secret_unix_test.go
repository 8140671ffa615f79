//go:build unix

package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestModes: modes that let others read or change a file are refused.
func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[fs.FileMode]struct{ service, person bool }{
		0o600: {true, true}, 0o400: {true, true}, 0o640: {true, false}, 0o440: {true, false}, 0o620: {}, 0o604: {}, 0o602: {}, 0o644: {}, 0o660: {},
	} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		about, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if service, person := NotForOthers(about) == nil, ForOwnerAlone(about) == nil; service != good.service || person != good.person {
			t.Errorf("mode %o: for a service %t, for a person %t; want %+v", mode, service, person, good)
		}
	}
}

// of is a file of another owner, with no permissions for others.
type of struct {
	fs.FileInfo
	owner *syscall.Stat_t
}

func (o of) Mode() fs.FileMode { return 0o600 }
func (o of) Sys() any          { return o.owner }

// TestOwners: the file of another user is refused, for a service unless a member of one of its groups has given it to that.
func TestOwners(t *testing.T) {
	me, group := uint32(os.Geteuid()), uint32(os.Getegid())
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	foreign := group + 54321
	for _, g := range groups {
		foreign = max(foreign, uint32(g)+1)
	}
	for name, c := range map[string]struct {
		owner           syscall.Stat_t
		service, person bool
	}{
		"own":                   {syscall.Stat_t{Uid: me, Gid: foreign}, true, true},
		"of root":               {syscall.Stat_t{Uid: 0, Gid: foreign}, true, true},
		"of another":            {syscall.Stat_t{Uid: me + 1, Gid: foreign}, false, false},
		"of another, for us":    {syscall.Stat_t{Uid: me + 1, Gid: group}, true, false},
		"mounted by Kubernetes": {syscall.Stat_t{Uid: 0, Gid: group}, true, true},
	} {
		about := of{owner: &c.owner}
		for who, check := range map[string]struct {
			good bool
			err  error
		}{"service": {c.service, NotForOthers(about)}, "person": {c.person, ForOwnerAlone(about)}} {
			if (check.err == nil) != check.good || check.err != nil && !strings.Contains(check.err.Error(), "belongs to another user") {
				t.Errorf("%s, for a %s: %v; want good: %t", name, who, check.err, check.good)
			}
		}
	}
}

// TestSecretsOfOthers: a secret that another user could have put there is refused, and so is one at the end of a link.
func TestSecretsOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		dir  os.FileMode
		want string
	}{
		"own":                   {0o755, ""},
		"in a sticky directory": {0o777 | os.ModeSticky, ""},
		"in an open directory":  {0o777, "its directory is open"},
	} {
		dir := filepath.Join(t.TempDir(), "dir")
		path, link := filepath.Join(dir, "secret"), filepath.Join(t.TempDir(), "link")
		if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(path, []byte("s"), 0o640), os.Chmod(dir, c.dir), os.Symlink(path, link)); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{path, link} {
			text, err := ReadSecret(at, 10)
			if (err == nil) != (c.want == "") || err == nil && string(text) != "s" || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %q, %v; want %q", name, text, err, c.want)
			}
		}
	}
}
