package replication

import (
	"errors"
	"testing"

	"github.com/carillon-io/carillon/job"
)

// A reader is at the third commit of epoch 2, and receives one message.
func TestTailJudges(t *testing.T) {
	first := chain(job.Position{}, 1, 2)
	frames := append(first, chain(ends(first), 2, 3)...)
	place := ends(frames)
	foreign := frameAfter(place, 2, "next")
	foreign.Cluster[0]++
	forged := frameAfter(place, 2, "next")
	forged.At.Hash[3]++
	otherPrev := frameAfter(place, 2, "next")
	otherPrev.Prev[0]++
	elsewhere := frameAfter(first[0].At, 2, "another way")
	ahead := chain(place, 2, 2)[1]

	for _, c := range []struct {
		name    string
		message []byte
		want    verdict
		voids   Voids
	}{
		{"the next commit", bytesOf(frameAfter(place, 2, "next")), accepted, Voids{}},
		{"the first of a new epoch", bytesOf(frameAfter(place, 3, "begin")), accepted, Voids{}},
		{"of an epoch far ahead", bytesOf(frameAfter(place, 99, "begin")), accepted, Voids{}},
		{"the place itself again", bytesOf(frames[4]), void, Voids{Repeated: 1}},
		{"junk", []byte("hello"), void, Voids{Alien: 1}},
		{"nothing", nil, void, Voids{Alien: 1}},
		{"another cluster's", bytesOf(foreign), void, Voids{Foreign: 1}},
		{"a deposed leader's next", bytesOf(frameAfter(place, 1, "late")), suspect, Voids{Deposed: 1}},
		{"an older one of this epoch", bytesOf(frames[3]), suspect, Voids{Repeated: 1}},
		{"one of this epoch from another way", bytesOf(elsewhere), suspect, Voids{Repeated: 1}},
		{"one too far", bytesOf(ahead), suspect, Voids{Unchained: 1}},
		{"one with a wrong hash", bytesOf(forged), suspect, Voids{Unchained: 1}},
		{"one after another commit", bytesOf(otherPrev), suspect, Voids{Unchained: 1}},
		{"a new epoch from another way", bytesOf(frameAfter(first[0].At, 3, "begin")), suspect, Voids{Unchained: 1}},
	} {
		reader := tail{cluster: testCluster, next: testNext, at: place}
		f, v, err := reader.judge(c.message)
		if v != c.want || err != nil || reader.voids.read() != c.voids {
			t.Errorf("%s: verdict %d, %v, counted %+v; want %d and %+v", c.name, v, err, reader.voids.read(), c.want, c.voids)
		}
		if moved := reader.at != place; moved != (v == accepted) || moved && reader.at != f.At {
			t.Errorf("%s: the place is %v", c.name, reader.at)
		}
	}
}

func bytesOf(f Frame) []byte { return appendFrame(nil, &f) }

// A node that cannot decode a frame of a newer release must not skip it: the log may continue there.
func TestTailStopsAtNewerRelease(t *testing.T) {
	b := bytesOf(frameAfter(job.Position{}, 1, "begin"))
	b[offVersion]++
	seal(b)
	reader := tail{cluster: testCluster, next: testNext}
	if _, _, err := reader.judge(b); !errors.Is(err, ErrFrameVersion) {
		t.Errorf("judged with %v, want %v", err, ErrFrameVersion)
	}
}
