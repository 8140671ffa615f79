package pad

import (
	"os"
	"testing"
)

// TestRingAfterClose: an attempt that ends after the pad was disarmed rings an alarm that is closed. The number of its
// counter may belong to another file by then, which must not be written to.
func TestRingAfterClose(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(t.TempDir() + "/other")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if int(f.Fd()) != a.fd {
		t.Skip("another test took the number of the counter first")
	}
	a.ring()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("the other file has %d bytes, %v", info.Size(), err)
	}
}
