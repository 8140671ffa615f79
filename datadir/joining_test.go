package datadir

import (
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/carillon-io/carillon/job"
)

// TestJoiningVersionOne: a swap that an older release has decided is completed as decided.
func TestJoiningVersionOne(t *testing.T) {
	at := job.Position{LSN: 0x0102030405060708, Epoch: 9, Hash: [16]byte{0xa0, 15: 0xaf}}
	b, err := hex.DecodeString("434a4f49" + "01000000" + "0807060504030201" + "0900000000000000" + "a00000000000000000000000000000af" + "a76ab176")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeJoining(b); err != nil || got != (swap{at: at}) {
		t.Errorf("decoded as %+v, %v", got, err)
	}
}

// TestJoiningFormat pins the bytes of the mark, and that no damage of one passes.
func TestJoiningFormat(t *testing.T) {
	at := job.Position{LSN: 0x0102030405060708, Epoch: 9, Hash: [16]byte{0xa0, 15: 0xaf}}
	wanted := swap{at, Replaced, time.UnixMilli(0x0102_0304_0506)}
	b := encodeJoining(wanted)
	const want = "434a4f49" + "02010000" + "0807060504030201" + "0900000000000000" + "a00000000000000000000000000000af" + "0605040302010000" + "5fa105bf"
	if got := fmt.Sprintf("%x", b); got != want {
		t.Errorf("encoded as %s, want %s", got, want)
	}
	if got, err := decodeJoining(b); err != nil || got != wanted {
		t.Errorf("decoded as %v, %v", got, err)
	}
	for i := range b {
		b[i] ^= 1
		if _, err := decodeJoining(b); err == nil {
			t.Errorf("byte %d flipped, and it was read", i)
		}
		b[i] ^= 1
		if _, err := decodeJoining(b[:i]); err == nil {
			t.Errorf("cut to %d bytes, and it was read", i)
		}
	}
}
