package carillon

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/carillon-io/carillon/datadir"
	"github.com/carillon-io/carillon/job"
)

// The file that says which node of which cluster a data directory is, and its format: one line of JSON.
const (
	identityFile     = datadir.NodeName
	identityVersion  = 1
	identityBytesMax = 4 << 10
	clusterIDBytes   = 16
	nodeSuffixBytes  = 3
)

// ErrIdentityVersion is returned by Start for a data directory whose file NODE has another format.
var ErrIdentityVersion = errors.New("the file NODE is of a version that this carillon does not know; run the one that wrote it, or a later one")

// identity is who a data directory is. The zero value is a node alone.
//
// Invariant: once written, Node and Cluster never change, and ClusterID changes once, from none to the
// cluster's. JetStream knows a peer by the name of its node: under another name it would be another peer, and
// the old one would be missed for ever.
type identity struct {
	Version   int    `json:"version"`
	Node      string `json:"node"`
	Cluster   string `json:"cluster"`
	ClusterID string `json:"cluster_id"` // 32 hex digits; empty until the node has met the cluster

	dir   string
	drawn bool // now, and in no file yet
}

// openIdentity tells who dir is, and draws who it will be in the cluster if it is no node yet: keep makes it one
// when what it holds was found fit for a start. The directory must be locked. It refuses one that belongs to another cluster or node than the options name.
func openIdentity(dir string, o Options) (*identity, error) {
	id, err := readIdentity(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return newIdentity(dir, o), nil
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, identityFile)
	switch {
	case !o.clustered():
		return nil, fmt.Errorf("%s: this data directory is node %q of cluster %q, and running it alone would fork the cluster's jobs; "+
			"start it with --cluster-name %s; to take it out of the cluster for good, delete that file", path, id.Node, id.Cluster, id.Cluster)
	case o.ClusterName != id.Cluster:
		return nil, fmt.Errorf("%s: this data directory belongs to cluster %q, not to %q; "+
			"start it with --cluster-name %s, or choose an empty directory with --data", path, id.Cluster, o.ClusterName, id.Cluster)
	case o.Node != "" && o.Node != id.Node:
		return nil, fmt.Errorf("%s: this data directory is node %q, not %q; "+
			"start it with --node %s or without --node, or choose an empty directory with --data", path, id.Node, o.Node, id.Node)
	}
	return id, nil
}

// newIdentity names a directory that has no name.
func newIdentity(dir string, o Options) *identity {
	if !o.clustered() {
		return &identity{}
	}
	id := &identity{Version: identityVersion, Node: o.Node, Cluster: o.ClusterName, dir: dir, drawn: true}
	if id.Node == "" {
		host, _ := os.Hostname() // one without a name is a node all the same
		id.Node = drawNode(host)
	}
	return id
}

// keep writes who the directory is, if that is in no file yet.
func (id *identity) keep() error {
	if !id.drawn {
		return nil
	}
	return id.write()
}

// drawNode makes a name from that of the host.
func drawNode(host string) string {
	host = strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", r) {
			return r
		}
		return '-'
	}, strings.ToLower(host))
	if host = strings.Trim(host, "-_"); host == "" {
		host = "node"
	}
	suffix := make([]byte, nodeSuffixBytes)
	_, _ = rand.Read(suffix) // never fails
	most := job.TenantBytesMax - 1 - hex.EncodedLen(nodeSuffixBytes)
	return host[:min(len(host), most)] + "-" + hex.EncodeToString(suffix)
}

// adopt keeps the id of the cluster that the node has met. A second cluster of the same name is refused:
// its log is not the one that this directory continues. The zero identity has nothing to adopt for.
func (id *identity) adopt(clusterID string) error {
	path := filepath.Join(id.dir, identityFile)
	switch {
	case id.Cluster == "":
		return errors.New("a node alone has no cluster to belong to")
	case !isClusterID(clusterID):
		return fmt.Errorf("%q is no id of a cluster; want %d hex digits", clusterID, hex.EncodedLen(clusterIDBytes))
	case id.ClusterID == clusterID:
		return nil
	case id.ClusterID != "":
		return fmt.Errorf("%s: this data directory belongs to the cluster %q with the id %s, and the one that NATS knows by that name has the id %s; "+
			"use the NATS servers of the former, or choose an empty directory with --data to join the latter", path, id.Cluster, id.ClusterID, clusterID)
	}
	changed := *id
	changed.ClusterID = clusterID
	if err := changed.write(); err != nil {
		return err
	}
	*id = changed
	return nil
}

func readIdentity(dir string) (*identity, error) {
	path := filepath.Join(dir, identityFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read who this data directory is: %w", err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, identityBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read who this data directory is: %w", err)
	}
	id, err := decodeIdentity(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	id.dir = dir
	return &id, nil
}

// decodeIdentity reads the file's one line. The version is looked at first: what else is in a later one
// cannot be known.
func decodeIdentity(text []byte) (identity, error) {
	if len(text) > identityBytesMax {
		return identity{}, fmt.Errorf("the file has more than %d bytes; restore it from a backup", identityBytesMax)
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return identity{}, fmt.Errorf("the file is no JSON object; restore it from a backup: %w", err)
	}
	if head.Version != identityVersion {
		return identity{}, fmt.Errorf("version %d: %w", head.Version, ErrIdentityVersion)
	}
	var id identity
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&id); err != nil {
		return identity{}, fmt.Errorf("the file is damaged; restore it from a backup: %w", err)
	}
	switch {
	case id.Version != identityVersion: // a key in another case
		return identity{}, errors.New("the file is damaged: it has two versions; restore it from a backup")
	case job.ValidateTenant(id.Node) != nil || job.ValidateTenant(id.Cluster) != nil:
		return identity{}, fmt.Errorf("the file is damaged: node %q of cluster %q are no names; restore it from a backup", id.Node, id.Cluster)
	case id.ClusterID != "" && !isClusterID(id.ClusterID):
		return identity{}, fmt.Errorf("the file is damaged: %q is no id of a cluster; restore it from a backup", id.ClusterID)
	}
	return id, nil
}

func isClusterID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == clusterIDBytes && s == hex.EncodeToString(b)
}

// write makes the file durable under its name: whatever a crash leaves is the old one or the new one.
func (id *identity) write() error {
	text, err := json.Marshal(id)
	if err == nil {
		err = replaceFile(id.dir, identityFile, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep who this data directory is: %w", err)
	}
	id.drawn = false
	return nil
}

// replaceFile writes a file beside the one of that name and then puts it in its place, each step synced
// before the next.
func replaceFile(dir, name string, text []byte) error {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
