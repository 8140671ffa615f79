// Package ports chooses addresses of this machine for programs that cannot be told to choose a port themselves.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// The ports are below those from which systems choose when a program asks for any port, or connects. So no other program
// gets one of them by chance between its choice and its use.
const (
	portMin = 10_000
	portMax = 32_000
)

// given has the addresses that Free has returned.
var given sync.Map

// Free returns n addresses of this machine, host:port, on which no program listened a moment ago. No address is returned
// twice in a process. It returns an error if too few are found. It is safe for concurrent use.
func Free(n int) ([]string, error) {
	addrs := make([]string, 0, n)
	for range 100 * n {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(portMin+rand.IntN(portMax-portMin)))
		if _, twice := given.LoadOrStore(addr, true); twice {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			continue // it is in use
		}
		_ = l.Close()
		if addrs = append(addrs, addr); len(addrs) == n {
			return addrs, nil
		}
	}
	return nil, fmt.Errorf("%d of %d free ports were found", len(addrs), n)
}
