package replication

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// goldenFrame is the content of testdata/frame_v1.hex.
func goldenFrame() Frame {
	return Frame{
		Cluster: ClusterID{0: 1, 15: 16}, Author: 0x0102030405060708,
		At:   job.Position{LSN: 4711, Epoch: 12, Hash: [16]byte{0: 0xaa, 15: 0xbb}},
		Prev: [16]byte{0: 0xcc, 15: 0xdd}, Time: 1_790_000_000_000, Payload: []byte("a batch of rows"),
	}
}

// The bytes of a frame never change, because each release reads what earlier ones wrote.
func TestFrameGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/frame_v1.hex")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	f := goldenFrame()
	if got := appendFrame(nil, &f); !bytes.Equal(got, golden) {
		t.Errorf("the frame is written as\n%s", hex.Dump(got))
	}
	got, err := decodeFrame(golden)
	if err != nil || !reflect.DeepEqual(got, f) {
		t.Errorf("the golden frame is read as %+v, %v", got, err)
	}
}

func TestFrameRoundTrip(t *testing.T) {
	for name, payload := range map[string][]byte{
		"no payload": {}, "a little": []byte("x"), "as much as there may be": bytes.Repeat([]byte{7}, PayloadBytesMax),
	} {
		f := goldenFrame()
		f.Payload = payload
		b := appendFrame([]byte("before"), &f)
		got, err := decodeFrame(b[len("before"):])
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("%s: it came back as %v, %v", name, got.At, err)
		}
	}
	f := goldenFrame()
	f.Payload = make([]byte, PayloadBytesMax+1)
	if _, err := decodeFrame(appendFrame(nil, &f)); !errors.Is(err, errNoFrame) {
		t.Errorf("a frame beyond the bound was read: %v", err)
	}
}

// A damaged frame is not a frame, wherever the damage is.
func TestFrameDamage(t *testing.T) {
	f := goldenFrame()
	whole := appendFrame(nil, &f)
	for at := range whole {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			b := bytes.Clone(whole)
			b[at] ^= flip
			if _, err := decodeFrame(b); !errors.Is(err, errNoFrame) {
				t.Fatalf("byte %d changed by %#x: %v", at, flip, err)
			}
		}
	}
	for n := range whole {
		if _, err := decodeFrame(whole[:n]); !errors.Is(err, errNoFrame) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
	if _, err := decodeFrame(append(whole, 0)); !errors.Is(err, errNoFrame) {
		t.Errorf("a byte too many: %v", err)
	}
}

// A frame of a newer release is distinguished from damage: it may be part of the log.
func TestFrameOfNewerRelease(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"version": func(b []byte) { b[offVersion] = frameVersion + 1 },
		"kind":    func(b []byte) { b[offKind] = kindCommit + 1 },
		"flags":   func(b []byte) { b[offFlags+1] = 1 },
	} {
		f := goldenFrame()
		b := appendFrame(nil, &f)
		change(b)
		seal(b)
		if _, err := decodeFrame(b); !errors.Is(err, ErrFrameVersion) {
			t.Errorf("%s: %v, want %v", name, err, ErrFrameVersion)
		}
	}
}

// seal corrects the checksum of a frame.
func seal(b []byte) {
	crc := frameCRC(b)
	for i := range 4 {
		b[offCRC+i] = byte(crc >> (8 * i))
	}
}

func TestClusterID(t *testing.T) {
	id, err := ParseClusterID(testCluster.String())
	if err != nil || id != testCluster {
		t.Errorf("%s came back as %s, %v", testCluster, id, err)
	}
	for _, text := range []string{"", "ca41", testCluster.String() + "00", strings.Repeat("zz", 16)} {
		if _, err := ParseClusterID(text); err == nil {
			t.Errorf("%q was taken for a cluster id", text)
		}
	}
}

// FuzzDecodeFrame: any bytes give an error, or a frame that encodes to the same bytes.
func FuzzDecodeFrame(f *testing.F) {
	frame := goldenFrame()
	f.Add(appendFrame(nil, &frame))
	f.Add([]byte(frameMagic))
	f.Add(make([]byte, headerBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decodeFrame(b)
		if err != nil {
			if !errors.Is(err, errNoFrame) && !errors.Is(err, ErrFrameVersion) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		if again := appendFrame(nil, &got); !bytes.Equal(again, b) {
			t.Errorf("read as %+v, it is written as other bytes", got)
		}
	})
}
