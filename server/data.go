package server

import (
	"context"

	"github.com/carillon-io/carillon/datadir"
)

// ErrInUse is returned by [Start] for a data directory that another server has open.
var ErrInUse = datadir.ErrInUse

// keepBehind is the number of commits that the log of a node in a cluster keeps although its checkpoint has
// them: if the stream loses some, the leader still has them.
const keepBehind = 10_000

// openData opens the data directory, of which a witness has only the lock and the name. The directory says which node
// this is.
func (s *Server) openData(context.Context) (err error) {
	open := datadir.OpenDirectory
	if s.opts.Witness {
		open = datadir.OpenWitness
	}
	if s.data, err = open(s.dataOptions()); err == nil {
		id := s.data.Identity()
		s.opts.Node, s.opts.founding = id.Node, id.IsFounder() && !s.opts.Witness
	}
	return err
}

// dataOptions returns the options of the data directory.
func (s *Server) dataOptions() datadir.Options {
	o := &s.opts
	d := datadir.Options{
		Dir: o.Dir, ClusterName: o.ClusterName, Node: o.Node, Witness: o.Witness, DiscardData: o.DiscardData,
		SegmentBytes: o.segmentBytes, MarkEvery: o.markEvery, Logger: o.Logger, OnFatal: s.fail, Replaying: o.replaying(),
	}
	if o.clustered() {
		d.KeepBehind = keepBehind
	}
	return d
}
