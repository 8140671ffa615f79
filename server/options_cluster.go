package server

import (
	"errors"
	"fmt"
	"time"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/replication"
)

// What a commit of a cluster waits for before it counts.
const (
	// DurabilityReplicated: the leader's own disk and the stream that the standbys read. A node that takes over
	// has every acknowledged commit.
	DurabilityReplicated = "replicated"
	// DurabilityLocal: the leader's own disk. The stream receives commits later; a takeover can lose the newest
	// acknowledged ones.
	DurabilityLocal = "local"
)

// The bounds and defaults of a cluster's options.
const (
	leadInCluster         = 10 * time.Second // longer than an election of the stream's leader, which takes 4 to 9 s
	streamBytesMaxDefault = 1 << 30
	streamBytesMaxMin     = 64 << 20
	replicasMax           = 5
	copiesMax             = 7    // more than any cluster needs: each costs the memory and the disk of the shard
	weightMax             = 1000 // far more than nodes differ by
)

// clustered reports whether this is a node of a cluster, rather than a node alone.
func (o Options) clustered() bool { return o.ClusterName != "" }

// clusterEmbedded reports whether the embedded servers of the nodes form the cluster's NATS.
func (o Options) clusterEmbedded() bool { return o.clustered() && o.NATSURL == "" }

func (o *Options) setClusterDefaults() {
	if !o.clustered() {
		return
	}
	if o.Lead == 0 {
		o.Lead = leadInCluster
	}
	if o.Durability == "" {
		o.Durability = DurabilityReplicated
	}
	if o.StreamBytesMax == 0 {
		o.StreamBytesMax = streamBytesMaxDefault
	}
	if o.ClusterListen == "" && o.clusterEmbedded() {
		o.ClusterListen = bus.ClusterListenDefault
	}
}

func (o Options) validateCluster() error {
	if !o.clustered() {
		return o.validateAlone()
	}
	switch {
	case job.ValidateTenant(o.ClusterName) != nil:
		return fmt.Errorf("options: the cluster name %q is no subject token; want 1 to %d letters, digits, - and _", o.ClusterName, job.TenantBytesMax)
	case o.Node != "" && job.ValidateTenant(o.Node) != nil:
		return fmt.Errorf("options: the node name %q is no subject token; want 1 to %d letters, digits, - and _", o.Node, job.TenantBytesMax)
	case o.Durability != DurabilityReplicated && o.Durability != DurabilityLocal:
		return fmt.Errorf("options: the durability %q is unknown; want %s or %s", o.Durability, DurabilityReplicated, DurabilityLocal)
	case o.Replicas < 0 || o.Replicas > replicasMax || (o.Replicas != 0 && o.Replicas%2 == 0):
		return fmt.Errorf("options: %d replicas; want 1, 3 or 5, or 0 to choose by the number of servers: an even number survives no more than the odd one below it", o.Replicas)
	case o.Shards != 0 && job.ValidateShards(o.Shards) != nil:
		return fmt.Errorf("options: %w, or 0 to take what the cluster has", job.ValidateShards(o.Shards))
	case o.Copies < 0 || o.Copies > copiesMax:
		return fmt.Errorf("options: %d copies of a shard; want 1 to %d, or 0 for %d", o.Copies, copiesMax, replication.CopiesDefault)
	case o.Weight > weightMax:
		return fmt.Errorf("options: the weight %d of this node is too large; want 1 to %d", o.Weight, weightMax)
	case o.Zone != "" && job.ValidateTenant(o.Zone) != nil:
		return fmt.Errorf("options: the zone %q is no word; want 1 to %d letters, digits, - and _", o.Zone, job.TenantBytesMax)
	case o.StreamBytesMax < streamBytesMaxMin:
		return fmt.Errorf("options: a log of the cluster of %d bytes is too small; want at least %d", o.StreamBytesMax, streamBytesMaxMin)
	case o.Witness && o.DiscardData:
		return errors.New("options: a witness has no data to discard; leave out --discard-data")
	}
	if err := o.validateRecreate(); err != nil {
		return err
	}
	if o.clusterEmbedded() {
		return bus.ValidatePeers(o.ClusterListen, o.Routes)
	}
	return o.validateOutside()
}

// validateRecreate refuses shards whose logs are to be made anew and that cannot be.
func (o Options) validateRecreate() error {
	if len(o.RecreateShards) == 0 {
		return nil
	}
	if !o.RecreateStream || o.Shards == 0 {
		return errors.New("options: shards whose logs are to be made anew (--recreate-shards) need --recreate-stream, and the number of all shards (--shards)")
	}
	for _, n := range o.RecreateShards {
		if int(n) >= o.Shards {
			return fmt.Errorf("options: there is no shard %d whose log could be made anew; the shards are 0 to %d", n, o.Shards-1)
		}
	}
	return nil
}

// validateAlone refuses settings that have no meaning without a cluster: a forgotten cluster name must not lead
// to two nodes that both fire.
func (o Options) validateAlone() error {
	for _, v := range []struct {
		set  bool
		what string
	}{
		{o.Witness, "a witness"},
		{o.Node != "", "a node name"},
		{o.ClusterListen != "", "an address to listen on for peers"},
		{len(o.Routes) > 0, "routes to peers"},
		{o.ClusterPassword != "", "a password of the cluster"},
		{o.Durability != "", "a durability"},
		{o.Replicas != 0, "a number of replicas"},
		{o.Shards != 0, "a number of shards"},
		{o.Copies != 0, "a number of copies"},
		{o.Weight != 0, "a weight of the node"},
		{o.Zone != "", "a zone of the node"},
		{o.StreamBytesMax != 0, "a size of the cluster's log"},
		{o.DiscardData, "giving data up for a cluster's"},
		{o.LeadAlone, "leading without the other members"},
		{o.RecreateStream || len(o.RecreateShards) > 0, "making the cluster's log anew"},
		{o.NATSSyncs, "what NATS has on disk"},
	} {
		if v.set {
			return fmt.Errorf("options: %s needs a cluster name (--cluster-name), the same on all nodes", v.what)
		}
	}
	return nil
}

// validateOutside refuses settings that only the embedded server can follow.
func (o Options) validateOutside() error {
	for _, v := range []struct {
		set  bool
		what string
	}{
		{o.Witness, "a witness is an embedded NATS server"},
		{o.ClusterListen != "", "an address to listen on for peers is of the embedded server"},
		{len(o.Routes) > 0, "routes are of the embedded server"},
		{o.ClusterPassword != "", "the password of the cluster is of the embedded server"},
	} {
		if v.set {
			return fmt.Errorf("options: %s, and --nats takes its place; leave out the one or the other", v.what)
		}
	}
	return nil
}
