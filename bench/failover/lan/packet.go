package lan

import (
	"encoding/binary"
	"net/netip"
)

// Lengths of headers without options.
const (
	ipHeaderLen  = 20
	tcpHeaderLen = 20
)

// protocolTCP is the number of TCP in the header of IP.
const protocolTCP = 6

// The flags of a TCP segment that matter here.
const (
	flagFIN = 1 << 0
	flagSYN = 1 << 1
	flagRST = 1 << 2
	flagACK = 1 << 4
)

// packet is an IP packet as a TUN device hands it out. Its methods accept any bytes: a packet that is cut short is
// none.
type packet []byte

// addresses returns source and destination; false if it is no whole packet of IPv4.
func (p packet) addresses() (from, to netip.Addr, ok bool) {
	if len(p) < ipHeaderLen || p[0]>>4 != 4 {
		return from, to, false
	}
	return netip.AddrFrom4([4]byte(p[12:16])), netip.AddrFrom4([4]byte(p[16:20])), true
}

// segment is the header of a TCP segment.
type segment struct {
	from, to netip.AddrPort
	// ack means something only with flagACK.
	seq, ack uint32
	flags    byte
	length   uint32 // of what it takes of the sequence: the data, and one each for SYN and FIN
}

// has reports whether a flag is set.
func (s segment) has(flag byte) bool { return s.flags&flag != 0 }

// segment reads the TCP header; false if the packet carries none. It does not verify checksums, because the kernel
// that made the packet is on this machine.
func (p packet) segment() (segment, bool) {
	from, to, ok := p.addresses()
	if !ok || p[9] != protocolTCP {
		return segment{}, false
	}
	start := int(p[0]&15) * 4
	if start < ipHeaderLen || len(p) < start+tcpHeaderLen {
		return segment{}, false
	}
	tcp := p[start:]
	s := segment{
		from:  netip.AddrPortFrom(from, binary.BigEndian.Uint16(tcp[0:])),
		to:    netip.AddrPortFrom(to, binary.BigEndian.Uint16(tcp[2:])),
		seq:   binary.BigEndian.Uint32(tcp[4:]),
		ack:   binary.BigEndian.Uint32(tcp[8:]),
		flags: tcp[13],
	}
	// The header of TCP may have options, whose length is in its own field.
	data := len(tcp) - int(tcp[12]>>4)*4
	s.length = uint32(max(data, 0))
	for _, flag := range []byte{flagSYN, flagFIN} {
		if s.has(flag) {
			s.length++
		}
	}
	return s, true
}

// refusal returns the RST that answers a segment as its receiver would that knows of no connection; false if the
// segment is a RST itself. The rules are those of RFC 9293, section 3.10.7.1.
func (s segment) refusal() (packet, bool) {
	switch {
	case s.has(flagRST):
		return nil, false
	case s.has(flagACK):
		return reset(s.to, s.from, s.ack), true
	default:
		return segment{from: s.to, to: s.from, ack: s.seq + s.length, flags: flagRST | flagACK}.packet(), true
	}
}

// reset returns the RST that ends an established connection at its receiver. The receiver takes it if seq is what it
// expects next. Any other sequence is ignored or answered with a challenge (RFC 5961), and the connection lives on.
func reset(from, to netip.AddrPort, seq uint32) packet {
	return segment{from: from, to: to, seq: seq, flags: flagRST}.packet()
}

// packet returns the segment, without data, in a packet of its own.
func (s segment) packet() packet {
	p := make(packet, ipHeaderLen+tcpHeaderLen)
	from, to := s.from.Addr().As4(), s.to.Addr().As4()
	p[0] = 4<<4 | ipHeaderLen/4
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	p[8], p[9] = 64, protocolTCP // hops to live
	copy(p[12:], from[:])
	copy(p[16:], to[:])
	binary.BigEndian.PutUint16(p[10:], checksum(p[:ipHeaderLen], 0))

	tcp := p[ipHeaderLen:]
	binary.BigEndian.PutUint16(tcp[0:], s.from.Port())
	binary.BigEndian.PutUint16(tcp[2:], s.to.Port())
	binary.BigEndian.PutUint32(tcp[4:], s.seq)
	binary.BigEndian.PutUint32(tcp[8:], s.ack)
	tcp[12], tcp[13] = tcpHeaderLen/4<<4, s.flags
	pseudo := uint32(protocolTCP + tcpHeaderLen)
	for i := 12; i < 20; i += 2 {
		pseudo += uint32(binary.BigEndian.Uint16(p[i:]))
	}
	binary.BigEndian.PutUint16(tcp[16:], checksum(tcp, pseudo))
	return p
}

// checksum is that of the Internet protocols, over an even number of bytes. See RFC 1071.
func checksum(b []byte, sum uint32) uint16 {
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
