package server

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/datadir"
)

// TestClusterPasswordLength: a password that can be guessed is refused for a new directory that others reach, and a member
// with such a password goes on and warns.
func TestClusterPasswordLength(t *testing.T) {
	dir := t.TempDir()
	o := Options{Dir: dir, ClusterName: "prod", Routes: []string{"b:6222"}, ClusterListen: "0.0.0.0:6222", Logger: testLog()}
	refused := func() bool {
		_, err := newServer(o)
		_, ok := errors.AsType[*OptionsError](err)
		return ok && strings.Contains(err.Error(), "the password of the cluster has")
	}
	for password, want := range map[string]bool{"x": true, "123456789abcdef": true, "0123456789abcdef": false} {
		if o.ClusterPassword = password; refused() != want {
			t.Errorf("%d bytes: refused is %t", len(password), !want)
		}
	}
	o.ClusterPassword = "tower"
	if o.Insecure = true; refused() {
		t.Error("refused with --insecure, by which a node joins a cluster with a short password")
	}
	if o.Insecure, o.ClusterListen = false, "127.0.0.1:6222"; refused() {
		t.Error("refused on loopback, where nobody else is")
	}
	o.ClusterListen = "0.0.0.0:6222"
	if err := os.WriteFile(filepath.Join(dir, datadir.NodeName), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := newServer(o)
	if err != nil {
		t.Fatalf("a member is refused: %v", err)
	}
	if all := s.furtherWarnings(); !slices.ContainsFunc(all, func(w string) bool { return strings.Contains(w, "has 5 bytes and can be guessed") }) {
		t.Errorf("no warning: %q", all)
	}
}
