package bus

import (
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
)

// accountConnsMax bounds the connections on which the requests of tenants come. Each costs about 100 KB and nine
// goroutines, half of them the server's. Up to so many tenants have one each; more of them share.
const accountConnsMax = 32

// accountConnName begins the name of such a connection, before its number, which begins with 1.
const accountConnName = "carillon requests "

// accountConns are those connections, all in Carillon's own account. What the server keeps for a connection that is behind
// comes from its tenants alone, so the requests of others neither wait behind it nor are lost with it. The zero value is
// ready. Safe for concurrent use.
type accountConns struct {
	mu    sync.Mutex
	conns []*nats.Conn
	of    map[string]int // index of the connection of each tenant
}

// AccountConns returns for each of the tenants the connection on which its requests come. A tenant keeps its connection as
// long as it is among the tenants of each call. With an error it returns those that there are. [Bus.Close] ends the
// connections. Safe for concurrent use.
func (b *Bus) AccountConns(tenants []string) (map[string]*nats.Conn, error) {
	a := &b.accountConns
	a.mu.Lock()
	defer a.mu.Unlock()
	old, used := a.of, make([]int, len(a.conns))
	a.of = make(map[string]int, len(tenants))
	for _, tenant := range tenants {
		if i, known := old[tenant]; known {
			a.of[tenant] = i
			used[i]++
		}
	}
	var errs []error
	all := make(map[string]*nats.Conn, len(tenants))
	for _, tenant := range tenants {
		i, known := a.of[tenant]
		if !known {
			var err error
			if i, used, err = b.accountConnLocked(used); err != nil {
				errs = append(errs, err)
				continue
			}
			a.of[tenant] = i
			used[i]++
		}
		all[tenant] = a.conns[i]
	}
	return all, errors.Join(errs...)
}

// accountConnLocked returns the connection that fewest tenants use, or a new one while there may be more. used has the
// number of tenants of each. A few connections of the server are a small part of those that clients may have.
func (b *Bus) accountConnLocked(used []int) (int, []int, error) {
	least := 0
	for i, n := range used {
		if n < used[least] {
			least = i
		}
	}
	isFull := len(used) >= min(accountConnsMax, max(1, b.opts.ConnectionsMax/8))
	if len(used) > 0 && (used[least] == 0 || isFull) {
		return least, used, nil
	}
	nc, err := b.connect(fmt.Sprint(accountConnName, len(used)+1))
	if err != nil {
		return 0, used, err
	}
	b.accountConns.conns = append(b.accountConns.conns, nc)
	return len(used), append(used, 0), nil
}

// tenantsOf returns the tenants of the connection of a name.
func (a *accountConns) tenantsOf(name string) (tenants []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for tenant, i := range a.of {
		if name == fmt.Sprint(accountConnName, i+1) {
			tenants = append(tenants, tenant)
		}
	}
	return tenants
}

// close ends the connections.
func (a *accountConns) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, nc := range a.conns {
		nc.Close()
	}
}
