package bus

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// replicasEvery is the time between two looks at the replicas of the streams.
const replicasEvery = 250 * time.Millisecond

// AwaitReplicas waits, after the server of a node was taken out of JetStream, until each stream of Carillon's account has all its replicas
// on others, and they have what its leader has. If that is not so when ctx ends, it returns what is lacking; "" if nothing is. It does not
// see the streams of tenants, which are in accounts of their own.
func (b *Bus) AwaitReplicas(ctx context.Context, without string) (lacks string) {
	js, err := jetstream.New(b.api)
	if err != nil {
		return err.Error()
	}
	for {
		switch now, err := lackingReplicas(ctx, js, without); {
		case err == nil && now == "":
			return ""
		case err == nil:
			lacks = now
		case lacks == "": // an error at the end of the time says less than what was found before
			lacks = fmt.Sprintf("the streams could not be listed: %v", err)
		}
		select {
		case <-ctx.Done():
			return lacks
		case <-time.After(replicasEvery):
		}
	}
}

// lackingReplicas returns how many streams lack a replica without a node, and which one is the first; "" if none does.
func lackingReplicas(ctx context.Context, js jetstream.JetStream, without string) (string, error) {
	list, lacking, first := js.ListStreams(ctx), 0, ""
	for info := range list.Info() {
		if has, want := inStep(info, without), info.Config.Replicas; has < want {
			if lacking++; first == "" {
				first = fmt.Sprintf("%s has %d of %d replicas in step", info.Config.Name, has, want)
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

// inStep returns how many replicas of a stream have all that it has, without that of a node: a server that has just ended, and one of which
// the leader of the stream has still to learn that it was taken out, count as being in step.
func inStep(info *jetstream.StreamInfo, without string) (n int) {
	switch {
	case info.Cluster == nil:
		return info.Config.Replicas // the server is alone
	case info.Cluster.Leader != "" && info.Cluster.Leader != without:
		n = 1
	}
	for _, r := range info.Cluster.Replicas {
		if r.Current && !r.Offline && r.Name != without {
			n++
		}
	}
	return n
}
