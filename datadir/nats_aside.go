package datadir

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

// natsAlone is the name of that directory while it is unknown whether its node joins the cluster. There is at most one
// such directory; its existence means that the question is open.
const natsAlone = NATSName + ".alone"

// SetNATSAside renames the directory of a node alone's embedded NATS server before that server becomes a member of a
// cluster, as member says, because a member removes the streams that its cluster does not know. Until the node has
// joined, putNATSBack undoes that, or the next start if this process dies first: id, the identity of the directory,
// says which. The server must not run. A start calls it just before the embedded server opens that directory. After a
// crash at any point a repeated call finds the same question and answers it by id.
func SetNATSAside(dir string, id Identity, member bool, logger *slog.Logger) (err error) {
	if exists(filepath.Join(dir, natsAlone)) {
		if id.ClusterID != "" && !id.IsOwn() {
			err = KeepNATSAside(dir, logger)
		} else {
			err = PutNATSBack(dir)
		}
		if err != nil {
			return err
		}
	}
	if !member {
		return nil
	}
	streams, err := LoneStreams(dir)
	if err != nil || len(streams) == 0 {
		return err
	}
	if err := renameSynced(dir, filepath.Join(dir, NATSName), filepath.Join(dir, natsAlone)); err != nil {
		return fmt.Errorf("put the streams of the embedded NATS server aside: %w", err)
	}
	return nil
}

// KeepNATSAside gives the directory its permanent name once the node has joined. An operator moves the streams into
// the cluster. The streams are kept, because they contain messages of the targets, which no other node has. Without
// such a directory it does nothing.
func KeepNATSAside(dir string, logger *slog.Logger) error {
	from := filepath.Join(dir, natsAlone)
	if !exists(from) {
		return nil
	}
	streams, err := streamsIn(from)
	if err != nil {
		return err
	}
	to := filepath.Join(dir, NATSName+replacedMark+time.Now().UTC().Format(keptTime))
	if err := renameSynced(dir, from, to); err != nil {
		return fmt.Errorf("put the streams of the embedded NATS server aside: %w", err)
	}
	logger.Warn("the streams of this node's embedded NATS server are put aside, because the servers of a cluster remove what they do not know; "+
		"docs/operations.md says how to bring them into the cluster", slog.String("directory", to), slog.String("streams", strings.Join(streams, ", ")))
	return nil
}

// PutNATSBack undoes setNATSAside if the node has not joined: the embedded server of the node alone finds its streams
// again. What the server stored meanwhile, as a member of a cluster to which its node does not belong, is removed. The
// server must have ended. A crash between the removal and the rename is harmless: the next call repeats both.
func PutNATSBack(dir string) error {
	from := filepath.Join(dir, natsAlone)
	if !exists(from) {
		return nil
	}
	to := filepath.Join(dir, NATSName)
	err := os.RemoveAll(to)
	if err == nil {
		err = renameSynced(dir, from, to)
	}
	if err != nil {
		return fmt.Errorf("put the streams of the embedded NATS server back: %w", err)
	}
	return nil
}

// LoneStreams returns the streams of the embedded NATS server in a data directory, as account/stream, if it belongs to
// a node alone; none if it is, or was, a member of a cluster. The directory of JetStream's own group is the mark of a
// member: a server makes it when it first runs in a cluster.
func LoneStreams(dir string) (streams []string, err error) {
	if exists(filepath.Join(dir, NATSName, "jetstream", "$SYS", "_js_", "_meta_")) {
		return nil, nil
	}
	return streamsIn(filepath.Join(dir, NATSName))
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
