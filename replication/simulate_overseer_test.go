package replication

// overseer checks what must hold over all shards. A nil one checks nothing.
type overseer struct {
	*ground
}

func (o *overseer) decides(m *machine, key string, value []byte) {
	if o == nil {
		return
	}
}

func (o *overseer) stored(m *machine, before keyState, value []byte) {
	if o == nil {
		return
	}
}

func (o *overseer) taken(n *simNode, from *leaseValue) {
	if o == nil {
		return
	}
}
