//go:build unix

package natsfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/carillon-io/carillon/certs/certstest"
)

// TestNoFileWaits: a pipe in the place of each file is an error at once; the options of the NATS library would wait for
// its other end for ever.
func TestNoFileWaits(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	good := certstest.Files(t, certstest.NewAuthority(t), certstest.Client("ops"))
	for name, option := range map[string]nats.Option{
		"creds": Creds(pipe), "nkey": NKey(pipe), "authorities": TLS(pipe, "", ""), "certificate": TLS("", pipe, good.Key), "key": TLS("", good.Cert, pipe),
	} {
		if err := Check(option); err == nil || !strings.Contains(err.Error(), pipe+": it is a pipe; want a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Check(TLS("", "", ""), TLS(good.CA, good.Cert, good.Key)); err != nil {
		t.Error(err)
	}
}

// TestSecretsOfOthersAreRefused: the rule for all files with a secret holds for credentials and nkeys.
func TestSecretsOfOthersAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("SU"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]nats.Option{"creds": Creds(path), "nkey": NKey(path)} {
		if err := Check(option); err == nil || !strings.Contains(err.Error(), path+": other users of this machine may read or change it (mode 0644)") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCredentialsAreReadAgain: a connection shows what the files have when it connects, signed by the key of then.
func TestCredentialsAreReadAgain(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	path := filepath.Join(os.Getenv("HOME"), "user.creds")
	var o nats.Options
	for i := range 2 {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, err := pair.Seed()
		if err != nil {
			t.Fatal(err)
		}
		jwt := fmt.Sprintf("jwt-%d", i)
		text := fmt.Sprintf("-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n", jwt, seed)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := Creds("~/user.creds")(&o); err != nil {
				t.Fatal(err)
			}
		}
		if shown, err := o.UserJWT(); err != nil || shown != jwt {
			t.Errorf("reading %d: %q, %v; want %s", i, shown, err, jwt)
		}
		signed, err := o.SignatureCB([]byte("nonce"))
		if err != nil || pair.Verify([]byte("nonce"), signed) != nil {
			t.Errorf("reading %d: the signature is not that of the key: %v", i, err)
		}
		key := nats.GetDefaultOptions()
		if err := NKey(path)(&key); err != nil || !nkeys.IsValidPublicUserKey(key.Nkey) {
			t.Errorf("reading %d: nkey %q, %v", i, key.Nkey, err)
		}
	}
	if err := os.WriteFile(path, []byte("nothing of a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, option := range map[string]nats.Option{"creds": Creds(path), "nkey": NKey(path)} {
		if err := Check(option); err == nil {
			t.Errorf("%s: a file without a key is accepted", name)
		}
	}
}
