package testkit

import "testing"

// Brief reports whether tests run as in `make check`: under the race detector, with -short. A test with goroutines, of which a
// few rounds show what many do, may run fewer then.
func Brief() bool { return Race && testing.Short() }

// NotUnderRace skips a test of which the race detector learns nothing, and which is slow under it, if tests run as in
// `make check`: one whose work is done by one goroutine at a time, such as a simulation in virtual time or a comparison over a
// large range, or by programs that are not built with the detector. `make test` runs it. A test in which goroutines meet is
// never skipped.
func NotUnderRace(t testing.TB, why string) {
	t.Helper()
	if Brief() {
		t.Skip("not under the race detector:", why)
	}
}
