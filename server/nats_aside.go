package server

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// natsName is the directory of the embedded NATS server in the data directory.
const natsName = "nats"

// natsAlone is the name of that directory while it is unknown whether its node joins the cluster.
const natsAlone = natsName + ".alone"

// setNATSAside renames the directory of a node alone's embedded NATS server before that server becomes a member
// of a cluster, because a member removes the streams that its cluster does not know. Until the node has joined,
// putNATSBack undoes that, or the next start if this process dies first.
func (s *Server) setNATSAside() error {
	o := &s.opts
	if exists(filepath.Join(o.Dir, natsAlone)) {
		settle := s.putNATSBack
		if id := s.identity(); id.ClusterID != "" && !id.isOwn() {
			settle = s.keepNATSAside
		}
		if err := settle(); err != nil {
			return err
		}
	}
	if !o.clusterEmbedded() {
		return nil
	}
	streams, err := loneStreams(o.Dir)
	if err != nil || len(streams) == 0 {
		return err
	}
	if err := renameSynced(o.Dir, filepath.Join(o.Dir, natsName), filepath.Join(o.Dir, natsAlone)); err != nil {
		return fmt.Errorf("put the streams of the embedded NATS server aside: %w", err)
	}
	return nil
}

// identity returns the identity of the data directory; the zero value in a witness, which has no data.
func (s *Server) identity() identity {
	if s.data == nil {
		return identity{}
	}
	return s.data.identity.get()
}

// keepNATSAside gives the directory its permanent name once the node has joined. An operator moves the streams
// into the cluster.
func (s *Server) keepNATSAside() error {
	dir, from := s.opts.Dir, filepath.Join(s.opts.Dir, natsAlone)
	if !exists(from) {
		return nil
	}
	streams, err := streamsIn(from)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, natsName+replacedMark+time.Now().UTC().Format(keptTime))
	if err := renameSynced(dir, from, to); err != nil {
		return fmt.Errorf("put the streams of the embedded NATS server aside: %w", err)
	}
	s.opts.Logger.Warn("the streams of this node's embedded NATS server are put aside, because the servers of a cluster remove what they do not know; "+
		"docs/operations.md says how to bring them into the cluster", slog.String("directory", to), slog.String("streams", strings.Join(streams, ", ")))
	return nil
}

// putNATSBack undoes setNATSAside if the node has not joined: the embedded server of the node alone finds its
// streams again. What the server stored meanwhile, as a member of a cluster to which its node does not belong,
// is removed. The server must have ended.
func (s *Server) putNATSBack() error {
	dir, from := s.opts.Dir, filepath.Join(s.opts.Dir, natsAlone)
	if !exists(from) {
		return nil
	}
	to := filepath.Join(dir, natsName)
	err := os.RemoveAll(to)
	if err == nil {
		err = renameSynced(dir, from, to)
	}
	if err != nil {
		return fmt.Errorf("put the streams of the embedded NATS server back: %w", err)
	}
	return nil
}

// loneStreams returns the streams of the embedded NATS server in a data directory, as account/stream, if it
// belongs to a node alone; none if it is, or was, a member of a cluster.
func loneStreams(dir string) (streams []string, err error) {
	if exists(filepath.Join(dir, natsName, "jetstream", "$SYS", "_js_", "_meta_")) {
		return nil, nil
	}
	return streamsIn(filepath.Join(dir, natsName))
}

// streamsIn returns the streams in the directory of a NATS server, as account/stream.
func streamsIn(dir string) (streams []string, err error) {
	root := filepath.Join(dir, "jetstream")
	accounts, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, account := range accounts {
		entries, readErr := os.ReadDir(filepath.Join(root, account.Name(), "streams"))
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			err = errors.Join(err, readErr)
		}
		for _, e := range entries {
			streams = append(streams, account.Name()+"/"+e.Name())
		}
	}
	return streams, err
}
