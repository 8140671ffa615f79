package backup

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSet is returned by [CheckSet] for backups that are not those of all shards of one cluster.
var ErrSet = errors.New("these are not the backups of all shards of one cluster")

// Part is the backup of one shard, as far as its header says.
type Part struct {
	Name string // of its file, for errors
	Header
}

// CheckSet returns an error unless the parts are the backups of each shard of one cluster, once each; a single backup of a
// server with one shard is one. The order of the parts is free. The shards need not be of the same moment.
func CheckSet(parts []Part) error {
	if len(parts) == 0 {
		return fmt.Errorf("%w: there is none", ErrSet)
	}
	first, have := parts[0], make(map[uint32]string)
	for _, p := range parts {
		other, again := have[p.Shard]
		switch {
		case max(p.Shards, 1) != max(first.Shards, 1):
			return fmt.Errorf("%w: %s is of a cluster with %s, and %s of one with %s", ErrSet, first.Name, shardsText(first.Shards), p.Name, shardsText(p.Shards))
		case p.ClusterID != first.ClusterID:
			return fmt.Errorf("%w: %s is of the cluster with the id %x, and %s of that with %x", ErrSet, first.Name, first.ClusterID, p.Name, p.ClusterID)
		case again:
			return fmt.Errorf("%w: both %s and %s are of shard %d", ErrSet, other, p.Name, p.Shard)
		}
		have[p.Shard] = p.Name
	}
	var missing []string
	for shard := range uint32(max(first.Shards, 1)) {
		if _, ok := have[shard]; !ok && first.Shards > 1 {
			missing = append(missing, fmt.Sprint(shard))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: of %d shards, missing: %s", ErrSet, first.Shards, strings.Join(missing, ", "))
	}
	return nil
}

func shardsText(n int) string {
	if n < 2 {
		return "one shard"
	}
	return fmt.Sprintf("%d shards", n)
}
