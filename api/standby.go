package api

import "strconv"

// StandbyHeader is the header of a request over HTTP that lets a standby answer a read from its own data.
const StandbyHeader = "Carillon-Standby"

// Headers of a reply from a standby's own data: the node, and its lag behind the leader in commits and in milliseconds.
const (
	nodeHeader  = "Carillon-Node"
	lagHeader   = "Carillon-Lag"
	lagMSHeader = "Carillon-Lag-Ms"
)

// StateLag adds to the headers of a reply from a standby's own data by how much that lags. A leader adds nothing. A caller can so decide
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
