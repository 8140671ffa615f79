package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// replicasEvery is the time between two looks at the replicas of the streams.
const replicasEvery = 250 * time.Millisecond

// AwaitReplicas waits until each stream of Carillon's account has all its replicas, and they have what its leader has, as after a server
// was taken out of JetStream and others take over its replicas. If that is not so when ctx ends, it returns what is lacking; "" if nothing
// is. It does not see the streams of tenants, which are in accounts of their own.
func (b *Bus) AwaitReplicas(ctx context.Context) (lacks string) {
	js, err := jetstream.New(b.api)
	if err != nil {
		return err.Error()
	}
	for {
		now, err := lackingReplicas(ctx, js)
		if err == nil && now == "" {
			return ""
		}
		if lacks == "" || err == nil { // an error at the end of the time says less than what was found before
			lacks = now
		}
		if lacks == "" {
			lacks = fmt.Sprintf("its streams could not be listed: %v", err)
		}
		select {
		case <-ctx.Done():
			return lacks
		case <-time.After(replicasEvery):
		}
	}
}

// lackingReplicas returns how many streams lack a replica, and which one is the first; "" if none does.
func lackingReplicas(ctx context.Context, js jetstream.JetStream) (string, error) {
	list, lacking, first := js.ListStreams(ctx), 0, ""
	for info := range list.Info() {
		if want := info.Config.Replicas; inStep(info) < want {
			if lacking++; first == "" {
				first = fmt.Sprintf("%s has %d of %d replicas in step", info.Config.Name, inStep(info), want)
			}
		}
	}
	switch {
	case list.Err() != nil || lacking == 0:
		return "", list.Err()
	case lacking == 1:
		return first, nil
	}
	return fmt.Sprintf("%s, and %d other streams lack some", first, lacking-1), nil
}

// inStep returns how many replicas of a stream have all that it has.
func inStep(info *jetstream.StreamInfo) (n int) {
	switch {
	case info.Cluster == nil:
		return info.Config.Replicas // the server is alone
	case info.Cluster.Leader != "":
		n = 1
	}
	for _, r := range info.Cluster.Replicas {
		if r.Current && !r.Offline {
			n++
		}
	}
	return n
}
