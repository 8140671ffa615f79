package replication

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/carillon-io/carillon/instant"
	"github.com/carillon-io/carillon/job"
)

// ClusterID identifies a cluster for ever. It is drawn when the cluster's stream is made. Zero: no cluster. A
// name can be given twice, as by a test cluster or after a loss of all data; the id keeps the log of one from
// being read by the nodes of the other.
type ClusterID [16]byte

// String returns the id as 32 hexadecimal digits.
func (id ClusterID) String() string { return hex.EncodeToString(id[:]) }

// ParseClusterID parses the result of [ClusterID.String].
func ParseClusterID(text string) (id ClusterID, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("replication: %q is no cluster id; want 32 hexadecimal digits", text)
	}
	return ClusterID(b), nil
}

// Frame is one commit with its header: one message of the stream.
type Frame struct {
	Cluster ClusterID
	Author  uint64         // identifies the node that published it; see authorOf
	At      job.Position   // position of this commit
	Prev    [16]byte       // hash of the commit before it
	Time    instant.Millis // wall clock of the author; for people only
	Payload []byte         // the batch of the commit
}

// The encoding of a frame, little-endian. These values are part of the format and must not be changed.
const (
	frameMagic   = "CREP"
	frameVersion = 1
	kindCommit   = 1 // 0 is invalid

	offVersion = 4
	offKind    = 5
	offFlags   = 6 // two bytes, zero
	offCluster = 8
	offAuthor  = 24
	offLSN     = 32
	offEpoch   = 40
	offPrev    = 48
	offHash    = 64
	offTime    = 80
	offLength  = 88
	offCRC     = 92

	headerBytes = 96
)

// PayloadBytesMax bounds the payload of a frame, in bytes. With its headers, the message fits into the one
// mebibyte that NATS servers accept by default.
const PayloadBytesMax = 1<<20 - 2<<10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrFrameVersion says that a frame was written by a newer release. A node that meets one must not skip it,
// since the frame may be part of the log.
var ErrFrameVersion = errors.New("replication: unknown version of a frame")

// errNoFrame says that a message is not a frame.
var errNoFrame = errors.New("replication: this is no frame")

// appendFrame appends the encoding of a frame to b.
func appendFrame(b []byte, f *Frame) []byte {
	start := len(b)
	le := binary.LittleEndian
	b = append(b, make([]byte, headerBytes)...)
	h := b[start:]
	copy(h, frameMagic)
	h[offVersion], h[offKind] = frameVersion, kindCommit
	copy(h[offCluster:], f.Cluster[:])
	le.PutUint64(h[offAuthor:], f.Author)
	le.PutUint64(h[offLSN:], f.At.LSN)
	le.PutUint64(h[offEpoch:], f.At.Epoch)
	copy(h[offPrev:], f.Prev[:])
	copy(h[offHash:], f.At.Hash[:])
	le.PutUint64(h[offTime:], uint64(f.Time))
	le.PutUint32(h[offLength:], uint32(len(f.Payload)))
	b = append(b, f.Payload...)
	le.PutUint32(b[start+offCRC:], frameCRC(b[start:]))
	return b
}

// frameCRC returns the CRC-32C of a message without the four bytes of the checksum itself.
func frameCRC(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:offCRC], castagnoli), castagnoli, b[headerBytes:])
}

// decodeFrame decodes a message. The payload of the result shares memory with it. For any bytes it returns a
// frame or an error: errNoFrame, or ErrFrameVersion for an undamaged frame of another version.
//
// The checksum comes before the version: a damaged version must not count as that of a newer release, which
// would stop the reader.
func decodeFrame(b []byte) (f Frame, err error) {
	le := binary.LittleEndian
	switch {
	case len(b) < headerBytes || string(b[:offVersion]) != frameMagic:
		return f, errNoFrame
	case uint64(le.Uint32(b[offLength:])) != uint64(len(b)-headerBytes) || len(b)-headerBytes > PayloadBytesMax:
		return f, fmt.Errorf("%w: its length is wrong", errNoFrame)
	case frameCRC(b) != le.Uint32(b[offCRC:]):
		return f, fmt.Errorf("%w: its checksum does not match", errNoFrame)
	case b[offVersion] != frameVersion:
		return f, fmt.Errorf("%w: %d, and this program knows %d", ErrFrameVersion, b[offVersion], frameVersion)
	case b[offKind] != kindCommit || le.Uint16(b[offFlags:]) != 0:
		return f, fmt.Errorf("%w: it has the unknown kind %d or flags %#x", ErrFrameVersion, b[offKind], le.Uint16(b[offFlags:]))
	}
	f.Cluster = ClusterID(b[offCluster:offAuthor])
	f.Author = le.Uint64(b[offAuthor:])
	f.At = job.Position{LSN: le.Uint64(b[offLSN:]), Epoch: le.Uint64(b[offEpoch:]), Hash: [16]byte(b[offHash:offTime])}
	f.Prev = [16]byte(b[offPrev:offHash])
	f.Time = instant.Millis(le.Uint64(b[offTime:]))
	f.Payload = b[headerBytes:]
	return f, nil
}
