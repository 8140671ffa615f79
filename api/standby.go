package api

import (
	"strconv"

	"github.com/carillon-io/carillon/apierr"
)

// Headers of a standby's reply: the node, and its lag behind the leader in commits and in milliseconds.
const (
	nodeHeader  = "Carillon-Node"
	lagHeader   = "Carillon-Lag"
	lagMSHeader = "Carillon-Lag-Ms"
)

// StateLag adds to the headers of a reply by how much a standby lags. A leader adds nothing. A caller can so decide
// for itself whether the reading is recent enough.
func (x *Executor) StateLag(header map[string][]string) {
	if !x.opts.Standby || x.opts.Cluster == nil {
		return
	}
	c := x.opts.Cluster()
	header[nodeHeader] = []string{c.Node}
	header[lagHeader] = []string{strconv.FormatUint(c.Lag, 10)}
	header[lagMSHeader] = []string{strconv.FormatFloat(c.LagMS, 'f', 0, 64)}
}

// checkStandby refuses a change if this node stands by. Over NATS the engine itself refuses it. It is checked early
// over HTTP, so that a body of a change is not read in vain.
func (x *Executor) checkStandby(v *Verb) error {
	if x.opts.Standby && !v.reads {
		return apierr.Errorf(apierr.NotLeader, "", "this node stands by and changes nothing")
	}
	return nil
}
