package server

import (
	"os"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestMain runs the tests: most of the parallel ones wait for elections, leases and lost nodes.
func TestMain(m *testing.M) { os.Exit(testkit.RunParallel(m)) }
