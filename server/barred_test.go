package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/replication"
)

// TestBarredNodeWarns: the status of a node that must not lead says so, and what to do.
func TestBarredNodeWarns(t *testing.T) {
	warnings := waitWarnings(replication.Status{Barred: errors.New("it lacks commits; start a node that has more")})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "must not lead: it lacks commits; start") {
		t.Errorf("%q", warnings)
	}
	if warnings := waitWarnings(replication.Status{}); len(warnings) != 0 {
		t.Errorf("of a node that may lead: %q", warnings)
	}
}
