package transfer

import (
	"encoding/json"
	"testing"
)

func TestListMissingDirectory(t *testing.T) {
	if files, err := List(t.TempDir()+"/none", 10); err == nil {
		t.Errorf("the files are %v", files)
	}
}

// TestCheck: a file that would not lie below the directory is refused.
func TestCheck(t *testing.T) {
	if err := Check([]File{{"MANIFEST-1", 10}, {"sub/000012.sst", 0}}); err != nil {
		t.Errorf("good files were refused: %v", err)
	}
	for _, name := range []string{"", ".", "a/..", "/etc/passwd", "..", "../x", "a/../../x", "sub/../../../x", "a//../../b"} {
		if err := Check([]File{{"good", 1}, {name, 1}}); err == nil {
			t.Errorf("the name %q was accepted", name)
		}
	}
	if Check([]File{{"a", -1}}) == nil {
		t.Error("a negative size was accepted")
	}
}

// TestWireFormat: both are part of what processes of different releases exchange.
func TestWireFormat(t *testing.T) {
	if sum := Sum([]byte("123456789")); sum != "3808858755" {
		t.Errorf("the sum of the check string is %s", sum)
	}
	if sum := Sum(nil); sum != "0" {
		t.Errorf("the sum of nothing is %s", sum)
	}
	b, err := json.Marshal([]File{{"sub/000012.sst", 12}})
	if err != nil || string(b) != `[{"name":"sub/000012.sst","size":12}]` {
		t.Errorf("files are encoded as %s, %v", b, err)
	}
}
