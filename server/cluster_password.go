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

// weakPassword says that the password of the cluster can be guessed; "" if it cannot, or if no other machine can try.
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

// checkProven refuses a member without a password and certificates if its peers prove who they are: it would connect with
// whoever listens at their addresses.
func (o Options) checkProven() error {
	if !o.clusterEmbedded() || o.ClusterPassword != "" || o.ClusterTLS.IsSet() || o.Insecure {
		return nil
	}
	proven, err := datadir.ReadProven(o.Dir, o.ClusterName)
	if err != nil || !proven {
		return err
	}
	return fmt.Errorf("options: the peers of this data directory prove who they are, and this start would not: give CARILLON_CLUSTER_PASSWORD or --cluster-password-file FILE, or --cluster-tls-cert/--cluster-tls-key/--cluster-tls-ca, as the other nodes have; "+
		"to go back to a cluster without, give --insecure, or delete %s for good", filepath.Join(o.Dir, datadir.ProvenName))
}

// keepProven keeps that the peers that this node has met prove who they are.
func (s *Server) keepProven(context.Context) error {
	if s.opts.ClusterPassword == "" && !s.opts.ClusterTLS.IsSet() {
		return nil
	}
	return datadir.KeepProven(s.opts.Dir, s.opts.ClusterName)
}

// warnPassword logs that the password of the cluster is weak.
func (s *Server) warnPassword(context.Context) error {
	if text := s.opts.weakPassword(); text != "" {
		s.opts.Logger.Warn(text)
	}
	return nil
}
