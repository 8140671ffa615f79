package job

import "testing"

// TestClaimedIsKept: what a caller claims is in the entry, and an entry without it is written as it always was.
func TestClaimedIsKept(t *testing.T) {
	for claimed, version := range map[string]byte{"": rowVersion, "alice@host": RowsVersionOfClaims} {
		want := sampleAudit()
		want.Actor.Claimed = claimed
		var b Batch
		b.PutAudit(&want)
		_ = Changes(b.Bytes(), func(c Change) error {
			if c.Value[0] != version {
				t.Errorf("claimed %q: version %d, want %d", claimed, c.Value[0], version)
			}
			got, err := DecodeAudit(want.ID, c.Value)
			if err != nil || got.Actor != want.Actor {
				t.Errorf("claimed %q: got %+v (%v)", claimed, got.Actor, err)
			}
			return nil
		})
	}
}
