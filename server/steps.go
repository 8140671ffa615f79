package server

import "context"

// step is a part of a start: what it does, and in which processes. Close ends what the steps have opened.
type step struct {
	run  func(*Server, context.Context) error
	when func(Options) bool
}

// The kinds of process, besides Options.clusterEmbedded.
func (o Options) any() bool       { return true }
func (o Options) alone() bool     { return !o.clustered() }
func (o Options) hasEngine() bool { return !o.Witness }
func (o Options) isMember() bool  { return o.clustered() && !o.Witness }
func (o Options) isWitness() bool { return o.Witness }

// startList lists the steps of every start, in order: that of a node alone, of one in a cluster and of a witness. The
// rights are first, so that nothing answers without them. The listeners are next, because an address in use is the
// likeliest fault and the cheapest to find. The data of the first shard comes before the bus, because it says which node this
// is; that of the others comes when NATS has said how many there are. HTTP shows the shards from the moment they are open, so
// that operators see a node that joins.
var startList = []step{
	{(*Server).openAccess, Options.any},
	{(*Server).warnInsecure, Options.any},
	{(*Server).warnPassword, Options.clusterEmbedded},
	{(*Server).listen, Options.any},
	{(*Server).openProfile, Options.any},
	{(*Server).refuseMember, Options.alone},
	{(*Server).openData, Options.any},
	{(*Server).openDaybook, Options.hasEngine},
	{(*Server).openTraces, Options.hasEngine},
	{(*Server).openBus, Options.any},
	{(*Server).keepProven, Options.clusterEmbedded},
	{(*Server).watchPending, Options.any},
	{(*Server).watchJetStream, Options.clusterEmbedded},
	{(*Server).openSurroundings, Options.hasEngine},
	{(*Server).divide, Options.isMember},
	{(*Server).openBackups, Options.hasEngine},
	{(*Server).openDispatch, Options.hasEngine},
	{(*Server).openShards, Options.hasEngine},
	{(*Server).shareUsage, Options.hasEngine},
	{(*Server).keepCalendars, Options.hasEngine},
	{(*Server).openRouter, Options.hasEngine},
	{(*Server).openSessionKey, Options.hasEngine},
	{(*Server).openWeb, Options.hasEngine},
	{(*Server).startShards, Options.hasEngine},
	{(*Server).keepPlaces, Options.isMember},
	{(*Server).watchUnlisted, Options.hasEngine},
	{(*Server).openHealth, Options.isWitness},
}

// steps returns the steps of this server's start, in order.
func (s *Server) steps() (steps []func(context.Context) error) {
	for _, step := range startList {
		if step.when(s.opts) {
			steps = append(steps, func(ctx context.Context) error { return step.run(s, ctx) })
		}
	}
	return steps
}
