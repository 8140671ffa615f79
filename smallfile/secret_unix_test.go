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

// TestPlacesOfSecrets: a secret that another user could have put there is refused, wherever on the way to it that is
// possible, also behind a link; a link of Kubernetes and a place in a sticky directory are not. Only root can make files of
// another user, so the rows with an owner are for root alone.
func TestPlacesOfSecrets(t *testing.T) {
	const other = 54321
	for name, c := range map[string]struct {
		modes map[string]fs.FileMode // of directories; 0755 if left out
		owner map[string]int         // of files, directories and links, if not the user
		group map[string]int
		want  string
	}{
		"own":                            {},
		"in a sticky directory":          {modes: map[string]fs.FileMode{"a/b": 0o777 | os.ModeSticky, "links": 0o777 | os.ModeSticky}},
		"in an open directory":           {modes: map[string]fs.FileMode{"a/b": 0o777}, want: "a/b is open to them"},
		"below an open directory":        {modes: map[string]fs.FileMode{"a": 0o777}, want: "a is open to them"},
		"in a directory of its group":    {modes: map[string]fs.FileMode{"a/b": 0o770}},
		"in a directory of a group":      {modes: map[string]fs.FileMode{"a/b": 0o770}, group: map[string]int{"a/b": other}, want: "a/b is open to them"},
		"in a directory of another user": {owner: map[string]int{"a/b": other}, want: "a/b belongs to another user"},
		"below one of another user":      {owner: map[string]int{"a": other}, want: "a belongs to another user"},
		"in a directory of its owner":    {owner: map[string]int{"a/b": other, "a/b/secret": other}},
		"sticky, but of another user":    {modes: map[string]fs.FileMode{"a": 0o777 | os.ModeSticky}, owner: map[string]int{"a/b": other}, want: "b in it belongs to another user"},
	} {
		root := t.TempDir()
		in := func(name string) string { return filepath.Join(root, name) }
		if err := errors.Join(os.MkdirAll(in("a/b"), 0o755), os.Mkdir(in("links"), 0o755), os.WriteFile(in("a/b/secret"), []byte("s"), 0o640),
			os.Symlink("../a/./b/secret", in("links/file")), os.Symlink(in("a"), in("links/dir"))); err != nil {
			t.Fatal(err)
		}
		for dir, mode := range c.modes {
			if err := os.Chmod(in(dir), mode); err != nil {
				t.Fatal(err)
			}
		}
		if os.Geteuid() != 0 && len(c.owner)+len(c.group) > 0 {
			continue
		}
		for path, uid := range c.owner {
			if err := os.Chown(in(path), uid, os.Getegid()); err != nil {
				t.Fatal(err)
			}
		}
		for path, gid := range c.group {
			if err := os.Chown(in(path), os.Geteuid(), gid); err != nil {
				t.Fatal(err)
			}
		}
		for _, at := range []string{"a/b/secret", "links/file", "links/dir/b/secret"} {
			text, err := ReadSecret(in(at), 10)
			if (err == nil) != (c.want == "") || err == nil && string(text) != "s" || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: %q, %v; want %q", name, at, text, err, c.want)
			}
		}
	}
}

// TestLinksOfOthers: a link in a sticky directory is refused if another user has made it, although all else is the user's.
func TestLinksOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes links of another user")
	}
	root := t.TempDir()
	secret, link := filepath.Join(root, "secret"), filepath.Join(root, "shared", "link")
	if err := errors.Join(os.WriteFile(secret, []byte("s"), 0o600), os.Mkdir(filepath.Dir(link), 0o755), os.Chmod(filepath.Dir(link), 0o777|os.ModeSticky),
		os.Symlink(secret, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecret(link, 10); err != nil {
		t.Errorf("a link of one's own: %v", err)
	}
	if err := os.Lchown(link, 54321, 54321); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSecret(link, 10); err == nil || !strings.Contains(err.Error(), "link in it belongs to another user") {
		t.Errorf("a link of another user: %v", err)
	}
	if err := errors.Join(os.Remove(link), os.Symlink("link", link)); err != nil {
		t.Fatal(err)
	}
	if about, err := os.Stat(secret); err != nil || CheckSecret(link, about) == nil {
		t.Errorf("a link to itself is accepted, %v", err)
	}
}

// TestSecretOfKubernetes: a mounted secret is read, with the modes and links that Kubernetes gives it.
func TestSecretOfKubernetes(t *testing.T) {
	mount := filepath.Join(t.TempDir(), "mount")
	in := func(name string) string { return filepath.Join(mount, name) }
	if err := errors.Join(os.MkdirAll(in("..2026_01_01"), 0o755), os.WriteFile(in("..2026_01_01/auth.yaml"), []byte("s"), 0o440),
		os.Symlink("..2026_01_01", in("..data")), os.Symlink("..data/auth.yaml", in("auth.yaml")),
		os.Chmod(mount, 0o777|os.ModeSticky|os.ModeSetgid), os.Chmod(in("..2026_01_01"), 0o755|os.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadSecret(in("auth.yaml"), 10); err != nil || string(text) != "s" {
		t.Errorf("%q, %v", text, err)
	}
}
