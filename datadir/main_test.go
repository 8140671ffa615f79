package datadir

import (
	"os"
	"testing"

	"github.com/carillon-io/carillon/testkit"
)

// TestMain runs the tests: most of them wait for the disk.
func TestMain(m *testing.M) { os.Exit(testkit.RunParallel(m)) }
