package job

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// slotVectors are the examples of docs/format/store.md: a name, its slot, a counter, and the id of both.
var slotVectors = []struct {
	tenant, name string
	slot         Slot
	counter      uint64
	id           ID
	text         string
}{
	{"default", "a", 0xc0, 1, 0x1c0, "00000000000e0"},
	{"default", "b", 0xe2, 2, 0x2e2, "00000000000q2"},
	{"default", "daily-report", 0x92, 4_097, 0x100192, "00000000100cj"},
	{"default", "reports/daily.eu", 0x03, 1 << 32, 0x10000000003, "0000100000003"},
	{"acme", "daily-report", 0x6b, 1<<54 + 1, 0x400000000000016b, "40000000000bb"},
	{"acme", "job-000001", 0x22, CounterMax - 1, 0xfffffffffffffe22, "fzzzzzzzzzzh2"},
	{"acme", "job-000002", 0x52, CounterMax, 0xffffffffffffff52, "fzzzzzzzzzztj"},
	{"ac", "me-job", 0x19, 1, 0x119, "000000000008s"},
	{"ac-me", "job", 0xd7, 1, 0x1d7, "00000000000eq"},
}

// TestSlotVectors: slots and ids are what the documentation says, for ever.
func TestSlotVectors(t *testing.T) {
	page, err := os.ReadFile("../docs/format/store.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range slotVectors {
		slot := SlotOf(v.tenant, v.name)
		id := NewID(v.counter, slot)
		if slot != v.slot || id != v.id || id.String() != v.text || id.Counter() != v.counter || id.Slot() != v.slot {
			t.Errorf("%s, %s: slot %#02x, id %#x %s; want %#02x, %#x %s", v.tenant, v.name, slot, uint64(id), id, v.slot, uint64(v.id), v.text)
		}
		line := fmt.Sprintf("| `%s` | `%s` | `%02x` | %d | `%016x` | `%s` |\n", v.tenant, v.name, uint8(slot), v.counter, uint64(id), id)
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/format/store.md has no line\n%s", line)
		}
	}
}

// TestSlotOfLongestName: the longest name fits, and the longest tenant.
func TestSlotOfLongestName(t *testing.T) {
	tenant, name := strings.Repeat("t", TenantBytesMax), strings.Repeat("n", NameBytesMax)
	if got := SlotOf(tenant, name); got != 0xe2 {
		t.Errorf("the slot is %02x, want e2", uint8(got))
	}
	if n := len(tenant) + 1 + len(name); n > slotTextBytes {
		t.Errorf("the text has %d bytes, more than the %d that are reserved", n, slotTextBytes)
	}
	if n := testing.AllocsPerRun(100, func() { SlotOf(tenant, name) }); n != 0 {
		t.Errorf("a slot costs %v allocations", n)
	}
}

// TestSlotsAreEven: families of names that differ in little spread over all slots about as evenly as chance would
// have it.
func TestSlotsAreEven(t *testing.T) {
	const each = 1000 // names for a slot
	for family, nameOf := range map[string]func(int) string{
		"counter": func(n int) string { return fmt.Sprint("job-", n) },
		"padded":  func(n int) string { return fmt.Sprintf("%08d", n) },
		"suffix":  func(n int) string { return fmt.Sprint(n, "/daily-report") },
		"even":    func(n int) string { return fmt.Sprint("device/", 2*n) },
	} {
		var count [Slots]int
		for n := range each * Slots {
			count[SlotOf("default", nameOf(n))]++
		}
		for slot, n := range count {
			if off := math.Abs(float64(n - each)); off > 5*math.Sqrt(each) {
				t.Errorf("%s: slot %d has %d names, want about %d", family, slot, n, each)
			}
		}
	}
}

// TestNewIDRefuses: a counter that does not fit, or that is none, makes no id.
func TestNewIDRefuses(t *testing.T) {
	for _, counter := range []uint64{0, CounterMax + 1, math.MaxUint64} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("counter %d makes an id", counter)
				}
			}()
			NewID(counter, 7)
		}()
	}
}

// TestSlotsFromRow: the row that says from which id on ids carry slots has version 5, so that earlier releases refuse
// it, and its bytes stay as they are.
func TestSlotsFromRow(t *testing.T) {
	const path = "testdata/rows_v5.txt"
	var b Batch
	b.PutSlotsFrom(NewID(1<<54+1, 0))
	if got := b.RowsVersion(); got != RowsVersionOfSlots || got <= rowVersion4 {
		t.Errorf("the row has version %d, want one of its own", got)
	}
	text := fmt.Sprintf("%x\n", b.Bytes())
	if *rewrite {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil || text != string(golden) {
		t.Errorf("the bytes have changed; a new version is needed (%v).\ngot:\n%s\nwant:\n%s", err, text, golden)
	}
	err = Changes(b.Bytes(), func(c Change) error {
		if n, err := DecodeMeta(c.Value); err != nil || ID(n) != NewID(1<<54+1, 0) {
			t.Errorf("it is read as %#x (%v)", n, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkSlotOf(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		SlotOf("default", "reports/daily-report-000001")
	}
}
