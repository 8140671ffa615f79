package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/bus"
	"github.com/carillon-io/carillon/datadir"
)

// ClusterPasswordBytesMin is the least length of the password of a new node's cluster if other machines reach the address
// for peers, in bytes: who may try against that address, or has a cookie of the pages, can guess a shorter one.
const ClusterPasswordBytesMin = 16

// weakPassword says that the password of the cluster can be guessed; "" if it cannot, or if there is nobody to guess it.
func (o Options) weakPassword() string {
	n := len(o.ClusterPassword)
	if n == 0 || n >= ClusterPasswordBytesMin || !o.clusterEmbedded() || bus.OnLoopback(o.ClusterListen) {
		return ""
	}
	return fmt.Sprintf("the password of the cluster has %d bytes and can be guessed by others, who reach %s; want at least %d, such as `openssl rand -hex 24` prints",
		n, o.ClusterListen, ClusterPasswordBytesMin)
}

// checkClusterPassword refuses a weak password for a new data directory. A directory that is a member already goes on, with
// warnings, because all nodes have one password and change it together.
func (o Options) checkClusterPassword() error {
	text := o.weakPassword()
	if text == "" || o.Insecure {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(o.Dir, datadir.NodeName)); !errors.Is(err, fs.ErrNotExist) {
		return nil // a member, or what the start has more to say about
	}
	return fmt.Errorf("options: %s; to join a cluster that has a shorter one, give --insecure until all nodes have a longer one", text)
}

// warnPassword logs that the password of the cluster is weak.
func (s *Server) warnPassword(context.Context) error {
	if text := s.opts.weakPassword(); text != "" {
		s.opts.Logger.Warn(text)
	}
	return nil
}
