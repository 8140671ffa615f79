// Package lan makes a network of hosts on one machine. Each host is a network namespace with a TUN device;
// a [Switch] in this process carries the packets between the devices, and does to them what a test asks:
//
//	cut     packets vanish, in one direction or in both, without a word to either side
//	reset   each TCP connection is ended by a RST, and each new one is refused
//	delay   packets arrive later, in order
//	loss    a share of the packets vanishes
//
// The kernel's own TCP runs at both ends, so retransmissions, backoff and half-open connections are the
// real ones. The kernel needs no bridge, no netem and no packet filter for it; it takes root and
// /dev/net/tun. Where they are missing, [New] returns an error that wraps [ErrUnavailable].
//
// A namespace ends with the last process in it and with [LAN.Close]: nothing has a name that could outlive
// the program.
package lan
