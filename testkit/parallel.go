package testkit

import (
	"flag"
	"strconv"
	"testing"
)

// parallelMin is how many parallel tests of a package run side by side at least. It is small, because the tests of other
// packages run at the same time.
const parallelMin = 4

// RunParallel runs the tests of a package, for its TestMain, and returns the exit status. At least four tests that call
// t.Parallel run side by side, also where Go would run fewer because the machine has fewer processors, unless the flag -parallel is
// given. It is for packages whose parallel tests wait, for timers or for the disk, most of their time. A test that measures time
// must not be parallel: Go runs it before the parallel ones.
func RunParallel(m *testing.M) int {
	flag.Parse()
	const name = "test.parallel"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if n, err := strconv.Atoi(flag.Lookup(name).Value.String()); err == nil && n < parallelMin && !given {
		if err := flag.Set(name, strconv.Itoa(parallelMin)); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
