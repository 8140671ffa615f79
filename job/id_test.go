package job

import (
	"math"
	"strings"
	"testing"
)

func TestIDTextSortsAsNumbers(t *testing.T) {
	ids := []ID{0, 1, 31, 32, 1 << 40, math.MaxUint64}
	for i, id := range ids {
		back, err := ParseID(id.String())
		if err != nil || back != id {
			t.Errorf("%d came back as %d (%v)", id, back, err)
		}
		if i > 0 && ids[i-1].String() >= id.String() {
			t.Errorf("%s does not sort before %s", ids[i-1], id)
		}
	}
}

func TestParseRunID(t *testing.T) {
	for _, r := range []RunID{{1, 1764576000000, 0}, {math.MaxUint64, 1, math.MaxUint32}, {7, -5, 1}} {
		back, err := ParseRunID(r.String())
		if r.At > 0 && (err != nil || back != r) {
			t.Errorf("%s came back as %v (%v)", r, back, err)
		}
	}
	good := RunID{1, 1764576000000, 0}.String()
	for _, s := range []string{"", "x", good + "-0", good + "-01", good + "-x", strings.ToUpper(good) + "A", good + "-1-1", "0000000000001-", "0000000000001-+5", good + strings.Repeat("9", 60)} {
		if _, err := ParseRunID(s); err == nil {
			t.Errorf("%q was taken for a run id", s)
		}
	}
}

func FuzzParseRunID(f *testing.F) {
	f.Add("0000000000001-1764576000000-3")
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRunID(s); err == nil && r.String() != s {
			t.Errorf("%q was read as %s", s, r)
		}
	})
}
