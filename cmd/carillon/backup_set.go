package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
)

// backupSuffix ends the names of the backups in a folder.
const backupSuffix = ".backup"

// setFilesMax bounds the backups in a folder: a cluster has at most as many shards.
const setFilesMax = 256

// partName returns the name of the backup of a shard in a folder.
func partName(shard int) string { return fmt.Sprintf("shard-%d%s", shard, backupSuffix) }

// isFolder reports whether a backup is a folder, with a file for each shard.
func isFolder(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.IsDir()
}

// toFolder writes the backups of all shards into a folder, which gets its name when all are complete; first is that of shard
// 0. They follow each other, because a server keeps a copy for a minute only while nothing of it is fetched.
func (c *backupTakeCmd) toFolder(ctx context.Context, con *console, r *remote, first *client.Backup) (err error) {
	out := filepath.Clean(c.Out)
	if _, err := os.Lstat(out); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fmt.Errorf("back up to %s: it exists already; the backups of several shards need a new folder", c.Out))
	}
	part, err := os.MkdirTemp(filepath.Dir(out), partPattern(out)) // with the mode 0700
	if err != nil {
		return fmt.Errorf("back up to %s: %w", c.Out, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("back up to %s: %w", c.Out, err), os.RemoveAll(part))
		}
	}()
	headers := make([]backup.Part, first.Shards)
	for shard := range headers {
		from := first
		if shard > 0 {
			if from, err = r.openBackup(ctx, uint32(shard)); err != nil {
				return err
			}
		}
		headers[shard].Name = partName(shard)
		err := writeWhole(filepath.Join(part, partName(shard)), func(w io.Writer) (err error) {
			headers[shard].Header, err = server.WriteBackup(ctx, from, w, con.newByteProgress(fmt.Sprintf("fetched of shard %d", shard)).Of)
			return err
		})
		from.Close()
		if err != nil {
			return fmt.Errorf("shard %d: %w", shard, err)
		}
	}
	if err := backup.CheckSet(headers); err != nil { // the cluster may have been founded anew meanwhile
		return err
	}
	if err := os.Rename(part, out); err != nil {
		return err
	}
	for _, h := range headers {
		noteBackup(con, filepath.Join(out, h.Name), h.Header)
	}
	return syncDirOf(out)
}

// backupFiles returns the backups in a folder, in the order of their names.
func backupFiles(folder string) (files []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), backupSuffix) && !e.IsDir() {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	if len(files) == 0 || len(files) > setFilesMax {
		return nil, fmt.Errorf("%s has %s *%s; want one for each shard of a cluster", folder, plural(len(files), "file"), backupSuffix)
	}
	return files, nil
}

// verifyBackups reads a backup, or all of a folder, to the end and checks them, and that those of a folder are of all shards.
// They are in the order of their shards.
func verifyBackups(ctx context.Context, con *console, file string) (all []backupReport, err error) {
	files, isSet := []string{file}, isFolder(file)
	if isSet {
		if files, err = backupFiles(file); err != nil {
			return nil, err
		}
	}
	var parts []backup.Part
	for _, name := range files {
		h, err := verifyBackup(ctx, con, name)
		if err != nil {
			return nil, err
		}
		parts, all = append(parts, backup.Part{Name: filepath.Base(name), Header: h}), append(all, newBackupReport(name, h))
	}
	if isSet {
		if err := backup.CheckSet(parts); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	slices.SortFunc(all, func(a, b backupReport) int { return int(a.Shard) - int(b.Shard) })
	return all, nil
}

// backupSet is the JSON of the backups of a folder.
type backupSet struct {
	Folder  string         `json:"folder"`
	Backups []backupReport `json:"backups"`
}

// printSet prints the backups of a folder that are whole.
func (c *backupVerifyCmd) printSet(con *console, all []backupReport) error {
	if c.isDocument() {
		return c.print(con, backupSet{c.File, all})
	}
	t := con.table("SHARD", "AS OF", "LSN", "EPOCH", "FILES", "SIZE", "STATUS")
	for _, r := range all {
		t.Row(fmt.Sprint(r.Shard), r.CreatedAt.Format(time.RFC3339), fmt.Sprint(r.LSN), fmt.Sprint(r.Epoch), fmt.Sprint(r.Files), formatBytes(r.Bytes), "whole")
	}
	return t.Flush()
}
