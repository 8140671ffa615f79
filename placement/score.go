package placement

import "math"

// score returns how well a shard suits a node, by weighted rendezvous (the logarithmic method of Schindelhauer and Schomaker,
// "Weighted distributed hash tables", 2005): of many shards each node is the best for a part that is as large as its part of
// the weights, and a node that joins or leaves changes the best of no more shards than it must.
func score(shard uint32, n *Node) float64 {
	const whole = 1 << 53
	u := (float64(hash(shard, n.Name)>>11) + 0.5) / whole // between 0 and 1
	return -float64(n.weight()) / math.Log(u)
}

// hash mixes a shard and a name: FNV-1a over the name, and the finalizer of MurmurHash3 (Austin Appleby, public domain) over the
// sum with the shard, because FNV alone leaves the high bits of short inputs nearly the same.
func hash(shard uint32, name string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h ^= uint64(shard) * 0x9e3779b97f4a7c15
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
