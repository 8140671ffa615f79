package certs_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-io/carillon/certs"
	"github.com/carillon-io/carillon/certs/certstest"
	"github.com/carillon-io/carillon/testkit"
)

// opened is a keeper with its files and its log.
type opened struct {
	*certs.Keeper
	authority *certs.Authority
	files     certs.Files
	log       *testkit.Buffer
}

// open opens a keeper of a certificate that a new authority issues.
func open(t *testing.T, w certs.Wanted) opened {
	t.Helper()
	k := opened{authority: certstest.NewAuthority(t), log: new(testkit.Buffer)}
	k.files = certstest.Files(t, k.authority, w)
	var err error
	k.Keeper, err = certs.Open(certs.Options{Name: "http", Files: k.files, Logger: slog.New(slog.NewTextHandler(k.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// count returns how often the log has a text.
func (k opened) count(text string) int { return strings.Count(k.log.String(), text) }

// TestBadFilesKeepTheOld: whatever comes in place of the files, the certificate that was read stays in use; the log and
// the counter have it once, and the files are used when they are whole.
func TestBadFilesKeepTheOld(t *testing.T) {
	k := open(t, certstest.Node("a"))
	whole, _ := os.ReadFile(k.files.Cert)
	key, _ := os.ReadFile(k.files.Key)
	authority, _ := os.ReadFile(k.files.CA)
	ends := k.State().Ends
	failures := uint64(0)
	for _, bad := range []struct {
		path string
		text []byte
		want string
	}{
		{k.files.Cert, whole[:len(whole)/2], "block 1 is cut short"},
		{k.files.Cert, append(slices.Clone(whole), whole[:len(whole)/2]...), "block 2 is cut short"},
		{k.files.CA, append(append(slices.Clone(authority), authority[:len(authority)/2]...), authority...), "block 2 is cut short"},
		{k.files.Cert, nil, "failed to find any PEM data"},
		{k.files.Key, key[:len(key)/2], "the key"},
		{k.files.Key, certstestKey(t, k.authority), "does not match"},
		{k.files.CA, []byte("no PEM"), "has no PEM block"},
		{k.files.CA, append([]byte(nil), key...), "has the type PRIVATE KEY"},
		{k.files.CA, whole[:len(whole)-40], "cut short or damaged"},
		{k.files.Cert, []byte(strings.Repeat("x", 1<<20+1)), "which is the limit"},
	} {
		before, _ := os.ReadFile(bad.path)
		certstest.Replace(t, bad.path, bad.text)
		failures++
		for range 3 {
			testkit.Refuses(t, k.Check(), bad.want, bad.path)
		}
		if st := k.State(); st.Failures != failures || st.Reloads != 0 || !st.Ends.Equal(ends) {
			t.Errorf("%s: %+v", bad.want, st)
		}
		if w := k.Warnings(); len(w) != 1 || !strings.Contains(w[0], "are not used") || !strings.Contains(w[0], bad.path) {
			t.Errorf("warnings %q", w)
		}
		certstest.Replace(t, bad.path, before)
		if err := k.Check(); err != nil {
			t.Fatal(err)
		}
		if w := k.Warnings(); len(w) != 0 {
			t.Errorf("warnings %q", w)
		}
	}
	if n := k.count("are not used"); n != int(failures) {
		t.Errorf("%d lines for %d failures:\n%s", n, failures, k.log)
	}
	if strings.Contains(k.log.String(), "PRIVATE KEY-----") {
		t.Error("the log has a key")
	}
	for i, path := range []string{k.files.Cert, k.files.Key, k.files.CA} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		testkit.Refuses(t, k.Check(), path, "no such file")
		certstest.Write(t, k.authority, certstest.Node("a"), k.files)
		if err := k.Check(); err != nil || k.State().Reloads != uint64(i+1) {
			t.Errorf("%v, %+v", err, k.State())
		}
	}
}

// certstestKey returns the key of another certificate.
func certstestKey(t *testing.T, a *certs.Authority) []byte {
	t.Helper()
	_, key, err := a.Issue(certstest.Node("other"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestOpenRefuses: a start with files that cannot serve is refused by their name.
func TestOpenRefuses(t *testing.T) {
	a := certstest.NewAuthority(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*certs.Files){
		"go together":                 func(f *certs.Files) { f.Key = "" },
		"no such file":                func(f *certs.Files) { f.CA += ".missing" },
		"it is a directory":           func(f *certs.Files) { f.Cert = filepath.Dir(f.Cert) },
		pipe + ": it is a pipe":       func(f *certs.Files) { f.Key = pipe },
		"may read or change it":       func(f *certs.Files) { chmod(t, f.Key, 0o604) },
		"mode 0644":                   func(f *certs.Files) { chmod(t, f.Key, 0o644) },
		"(mode 0660)":                 func(f *certs.Files) { chmod(t, f.Key, 0o660) },
		"failed to find any PEM data": func(f *certs.Files) { certstest.Replace(t, f.Cert, []byte("x")) },
		"peers verify each other":     func(f *certs.Files) { f.CA = "" },
		"signed by unknown authority": func(f *certs.Files) {
			other := certstest.In(t.TempDir())
			certstest.Write(t, certstest.NewAuthority(t), certstest.Node("b"), other)
			f.CA = other.CA
		},
		"the peers would refuse it: as ": func(f *certs.Files) { certstest.Write(t, a, certstest.Client("c"), *f) },
	} {
		files := certstest.Files(t, a, certstest.Node("a"))
		change(&files)
		_, err := certs.Open(certs.Options{Name: "cluster", Files: files, Peers: true, Logger: slog.New(slog.DiscardHandler)})
		testkit.Refuses(t, err, want)
	}
	files := certstest.Files(t, a, certstest.Node("a"))
	chmod(t, files.Key, 0o440)
	if _, err := certs.Open(certs.Options{Files: files, Peers: true, Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Errorf("a key that its group may read: %v", err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// TestEnds: a certificate that ends soon is warned about, at once and daily; one that has ended is worse than one that
// has not, and better than none.
func TestEnds(t *testing.T) {
	soon := certstest.Node("a")
	soon.Ends = time.Now().Add(10 * 24 * time.Hour)
	k := open(t, soon)
	if w := k.Warnings(); len(w) != 1 || !strings.Contains(w[0], "the certificate of --http-tls-cert ends on "+soon.Ends.UTC().Format(time.DateOnly)+"; replace "+k.files.Cert) {
		t.Errorf("warnings %q", w)
	}
	for range 3 {
		if err := k.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if n := k.count("ends on"); n != 1 {
		t.Errorf("%d lines:\n%s", n, k.log)
	}
	over := certstest.Node("a")
	over.Begins, over.Ends = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Minute)
	certstest.Write(t, k.authority, over, k.files)
	testkit.Refuses(t, k.Check(), "has ended on", "the one in use has not")
	early := certstest.Node("a")
	early.Begins = time.Now().Add(time.Hour)
	certstest.Write(t, k.authority, early, k.files)
	testkit.Refuses(t, k.Check(), "begins only on")
	certstest.Write(t, k.authority, certstest.Node("a"), k.files)
	if err := k.Check(); err != nil || len(k.Warnings()) != 0 {
		t.Errorf("%v, %q", err, k.Warnings())
	}
	if k = open(t, over); len(k.Warnings()) != 1 || !strings.Contains(k.Warnings()[0], "has ended on") {
		t.Errorf("warnings %q", k.Warnings())
	}
}

// TestEndedBeforeItsAuthority: the certificate of a peer that has ended does not stop a start, however young its authority is,
// which may have been renewed with its key. One of another authority, or for clients alone, does, whether it has ended or not.
func TestEndedBeforeItsAuthority(t *testing.T) {
	a := certstest.NewAuthority(t)
	ended := certstest.Node("a")
	ended.Begins, ended.Ends = time.Now().Add(-240*time.Hour), time.Now().Add(-24*time.Hour)
	logger := slog.New(slog.DiscardHandler)
	files := certstest.Files(t, a, ended)
	k, err := certs.Open(certs.Options{Name: "cluster", Files: files, Peers: true, Logger: logger})
	if err != nil || len(k.Warnings()) != 1 || !strings.Contains(k.Warnings()[0], "has ended on") {
		t.Errorf("%v", err)
	}
	early := certstest.Node("a")
	early.Begins = time.Now().Add(time.Hour)
	if _, err := certs.Open(certs.Options{Name: "cluster", Files: certstest.Files(t, a, early), Peers: true, Logger: logger}); err != nil {
		t.Errorf("not valid yet: %v", err)
	}
	other := certstest.In(t.TempDir())
	certstest.Write(t, certstest.NewAuthority(t), certstest.Node("b"), other)
	foreign := files
	foreign.CA = other.CA
	_, err = certs.Open(certs.Options{Name: "cluster", Files: foreign, Peers: true, Logger: logger})
	testkit.Refuses(t, err, "signed by unknown authority")
	client := certstest.Client("c")
	client.Begins, client.Ends = ended.Begins, ended.Ends
	_, err = certs.Open(certs.Options{Name: "cluster", Files: certstest.Files(t, a, client), Peers: true, Logger: logger})
	testkit.Refuses(t, err, "the peers would refuse it: as a peer (serverAuth)", "incompatible key usage")
}

// TestWatch: changed files come into use by themselves, and the end of a certificate is logged daily.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := certstest.Node("a")
		w.Begins, w.Ends = time.Now().Add(-time.Hour), time.Now().Add(13*24*time.Hour)
		k := open(t, w)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); k.Watch(ctx) }()
		testkit.Pass(25 * time.Hour)
		if n := k.count("ends on"); n != 2 {
			t.Errorf("%d lines in a day:\n%s", n, k.log)
		}
		certstest.Write(t, k.authority, certstest.Node("a"), k.files)
		testkit.Pass(11 * time.Second)
		if st := k.State(); st.Reloads != 1 || len(k.Warnings()) != 0 {
			t.Errorf("%+v, %q", st, k.Warnings())
		}
		stop()
		<-done
	})
}

// TestNotForAServer: files of which no client would take the certificate do not replace those that serve; a server that is
// started with them serves with them.
func TestNotForAServer(t *testing.T) {
	for want, w := range map[string]certs.Wanted{
		"lacks serverAuth":     certstest.Client("a"),
		"a common name is not": {Name: "a", Server: true},
	} {
		k := open(t, certstest.Node("a"))
		certstest.Write(t, k.authority, w, k.files)
		testkit.Refuses(t, k.Check(), want, k.files.Cert)
		if k.State().Reloads != 0 || len(k.Warnings()) != 1 {
			t.Errorf("%s: %+v, %q", want, k.State(), k.Warnings())
		}
		again, err := certs.Open(certs.Options{Name: "http", Files: k.files, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		certstest.Write(t, k.authority, w, k.files) // another one like it is no worse
		if err := again.Check(); err != nil || again.State().Reloads != 1 {
			t.Errorf("%s: %v, %+v", want, err, again.State())
		}
	}
}
