package replication

import (
	"testing"

	"github.com/carillon-io/carillon/job"
)

// TestPumpBeyondTheCheckpoint: the stream was unreachable for so long that the log does not keep what it lacks.
// The log continues with the newest commit; the leader does not try for ever to publish the missing ones.
func TestPumpBeyondTheCheckpoint(t *testing.T) {
	frames := chain(job.Position{}, 1, 8)
	stream, log := streamOf(frames[:3]...), logOf(frames...).beginsAfter(6)
	n := &Node{opts: Options{}.withDefaults(), id: testCluster, local: onlyLog{log: log}, trimmer: newTrimmer(0)}
	n.writer.cluster, n.writer.next, n.writer.stream, n.writer.own = testCluster, testNext, stream, log
	n.writer.log, n.writer.frame = log, n.ownFrame
	n.writer.seq, n.writer.at = 3, frames[2].At
	for tries := 0; n.writer.at != log.Last(); tries++ {
		if tries == 5 {
			t.Fatalf("the stream is at %v, and the log at %v", n.writer.at, log.Last())
		}
		if err := n.pumpOne(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	message, err := stream.Get(t.Context(), stream.last())
	if err != nil {
		t.Fatal(err)
	}
	if f, err := decodeFrame(message); err != nil || f.At != log.Last() {
		t.Errorf("the stream ends with %v, %v", f.At, err)
	}
}

// onlyLog is a Local with nothing but a log.
type onlyLog struct {
	Local
	log *memLog
}

func (l onlyLog) Last() job.Position { return l.log.Last() }

func (l onlyLog) Find(lsn uint64) (job.Position, bool) { return l.log.Find(lsn) }

func (l onlyLog) Read(lsn uint64) (at job.Position, prev [16]byte, payload []byte, ok bool, err error) {
	f, ok, err := l.log.frame(lsn)
	return f.At, f.Prev, f.Payload, ok, err
}
