package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/job"
)

// ErrMembersVersion is returned by [ReadMembers] for a file MEMBERS that a newer release has written.
var ErrMembersVersion = errors.New("the file MEMBERS was written by a newer release of Carillon; start that one")

// The format of the file MEMBERS, and the bound of its size.
const (
	membersVersion = 1
	// More than membersMax names of the longest kind need.
	membersBytesMax = 16 << 10
	// A bound for a damaged file; clusters have a few members.
	membersMax = 64
)

// membersFile is the one line of the file: what a node knows about its cluster when it starts. It is separate from
// NODE, because it changes while the cluster runs, and its loss is bearable: a node without it does not know for whom
// to wait.
type membersFile struct {
	Version   int      `json:"version"`
	ClusterID string   `json:"cluster_id"`
	Nodes     []string `json:"nodes"`
	Term      uint64   `json:"term,omitempty"`
	Renewal   uint64   `json:"renewal,omitempty"`
}

// Members is what a node knows about its cluster when it starts.
type Members struct {
	Nodes []string // names of the other members
	// A node that restarts compares them with the lease, and so learns whether it was the last to renew it.
	Term, Renewal uint64 // of the lease, when this node renewed it last; 0: never
}

// ReadMembers returns what the directory dir of a shard has kept about its cluster. It returns nothing if there is no
// file or if it is about another cluster. A damaged file is an error and not an empty result, because a node that knew
// no members would lead without waiting for those that may have more of the log.
func ReadMembers(dir, clusterID string) (k Members, err error) {
	path := filepath.Join(dir, MembersName)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return k, fmt.Errorf("read the members of the cluster: %w", err)
	}
	f, err := decodeMembers(text)
	if err != nil {
		return k, fmt.Errorf("%s: %w", path, err)
	}
	if f.ClusterID != clusterID {
		return k, nil
	}
	return Members{Nodes: f.Nodes, Term: f.Term, Renewal: f.Renewal}, nil
}

// checkMembers returns an error if the file MEMBERS cannot be read. A node alone does not read it.
func checkMembers(dir string, r reader) error {
	if !r.clustered {
		return nil
	}
	_, err := ReadMembers(dir, "")
	return err
}

func decodeMembers(text []byte) (f membersFile, err error) {
	const wayOut = "remove it if all other nodes of the cluster are up, or gone for good"
	var head struct {
		Version int `json:"version"`
	}
	if len(text) > membersBytesMax || json.Unmarshal(text, &head) != nil {
		return f, fmt.Errorf("the file is damaged; %s", wayOut)
	}
	if head.Version > membersVersion {
		return f, fmt.Errorf("version %d: %w", head.Version, ErrMembersVersion)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil || f.Version != membersVersion || !isClusterID(f.ClusterID) || len(f.Nodes) > membersMax {
		return f, fmt.Errorf("the file is damaged; %s", wayOut)
	}
	for _, name := range f.Nodes {
		if job.ValidateTenant(name) != nil {
			return f, fmt.Errorf("the file is damaged: %q is no name of a node; %s", name, wayOut)
		}
	}
	return f, nil
}

// WriteMembers stores the members durably in the directory dir of a shard. A crash leaves the old file or the new one.
// It is not for concurrent use.
func WriteMembers(dir, clusterID string, k Members) error {
	f := membersFile{Version: membersVersion, ClusterID: clusterID, Nodes: append([]string{}, k.Nodes...), Term: k.Term, Renewal: k.Renewal}
	text, err := json.Marshal(f)
	if err == nil {
		err = replaceFile(dir, MembersName, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the members of the cluster: %w", err)
	}
	return nil
}
