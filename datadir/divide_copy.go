package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// sourceNames are what is copied of the data that is divided: at the root also what a release before shards kept there.
var sourceNames = []string{
	PartsName, NodeName, InstallationName, LogName, StoreName, JoiningName, incomingName,
	filepath.Join(ShardsName, "0", LogName), filepath.Join(ShardsName, "0", StoreName),
	filepath.Join(ShardsName, "0", JoiningName), filepath.Join(ShardsName, "0", incomingName),
}

func (d *Division) copySource() error {
	for _, name := range sourceNames {
		from, to := filepath.Join(d.opts.From, name), filepath.Join(d.path(sourceName), name)
		if err := checkLink(from); err != nil {
			return err
		}
		if err := copyTree(from, to); err != nil {
			return err
		}
	}
	return nil
}

// copyTree copies a file or a directory, and follows links. It copies nothing if there is nothing.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return copyOrLink(from, to)
	}
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	for _, e := range entries {
		if err == nil && e.Name() != "lost+found" {
			err = copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	return err
}

// copyOrLink copies a file. A table of a store is linked if it can be: it never changes.
func copyOrLink(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if filepath.Ext(from) == ".sst" && os.Link(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(in)
	return errors.Join(err, out.Close())
}

// copyExtras copies what is not divided: how late launches were, and that the peers of the cluster prove who they are.
func (d *Division) copyExtras(id Identity) error {
	err := copyTree(filepath.Join(ShardDir(d.opts.From, 0), DaybookName), filepath.Join(ShardDir(d.dir, 0), DaybookName))
	if old, readErr := ReadIdentity(d.opts.From); readErr == nil && old.Cluster == id.Cluster {
		err = errors.Join(err, copyTree(filepath.Join(d.opts.From, ProvenName), d.path(ProvenName)))
	}
	return err
}
