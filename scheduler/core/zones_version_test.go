package core

import "testing"

func TestVersionNumbers(t *testing.T) {
	for version, want := range map[string]uint64{"2025c": 202503, "2026a": 202601, "": 0, "unknown": 0, "2025": 0, "2025C": 0, "2025cc": 0} {
		if n := versionNumber(version); n != want {
			t.Errorf("%q is %d, want %d", version, n, want)
		}
		if want != 0 && versionText(want) != version {
			t.Errorf("%d is %q, want %q", want, versionText(want), version)
		}
	}
}
