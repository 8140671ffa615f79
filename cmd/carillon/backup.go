package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/carillon-io/carillon/backup"
	"github.com/carillon-io/carillon/client"
	"github.com/carillon-io/carillon/server"
	"github.com/carillon-io/carillon/terminal"
)

// backupCmd groups the commands for backups.
type backupCmd struct {
	Take   backupTakeCmd   `cmd:"" default:"withargs" help:"Back up a running server; the default of backup."`
	Verify backupVerifyCmd `cmd:"" help:"Read a whole backup and check that it is intact."`
}

// Help is what `carillon backup --help` says besides the flags.
func (*backupCmd) Help() string { return backupHelp }

// backupHelp is the text of the group and of its default command.
const backupHelp = `The server keeps running. The file holds its jobs, runs and history as of one moment, with a checksum of each piece and of the whole; it gets its name when it is complete. In a cluster the leader makes it. The contents of NATS streams are not part of it.

Examples:

  carillon backup
  carillon backup --server nats://nats.example.com:4222 -o /backup/carillon.backup --verify
  carillon backup -o - | gzip > carillon.backup.gz
  carillon backup verify carillon.backup
  carillon restore carillon.backup --data /var/lib/carillon

A cluster of several shards has a backup for each, in a folder that gets its name when all are complete. Each is of a moment of its own.`

// backupTakeCmd backs up a running server. It has serverFlags alone: a backup is no change, so the audit log does
// not record who made it.
type backupTakeCmd struct {
	Out    string  `short:"o" help:"File to write, - for standard output; carillon-TIME.backup if left out. Of several shards: the folder." placeholder:"FILE"`
	Verify bool    `help:"Read the file again after writing it, and check it."`
	Shard  *uint32 `help:"Of several shards, back up only the one of this number, into a file." placeholder:"N" complete:"@shards"`
	serverFlags
}

// Help is what `carillon backup take --help` says besides the flags.
func (*backupTakeCmd) Help() string { return backupHelp }

// Run implements the command. The copy on the server is closed before the file is verified, so that the server can
// remove it soon.
func (c *backupTakeCmd) Run(ctx context.Context, con *console) error {
	if c.Out == "-" && c.Verify {
		return usagef("what went to standard output cannot be read again: give a file, or pipe into 'carillon backup verify -'")
	}
	if c.Out == "-" && terminal.IsTerminal(con.out) {
		return usagef("a backup is not for a terminal: give a file with -o, or pipe it somewhere")
	}
	r, err := c.connectOverAll(ctx, "")
	if err != nil {
		return err
	}
	defer r.close()
	number := uint32(0)
	if c.Shard != nil {
		number = *c.Shard
	}
	from, err := r.openBackup(ctx, number)
	if err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if c.Out == "" {
		// The time is that of the backup and not of the file, so two backups of one day differ in their names, and
		// sort by their age.
		c.Out = "carillon-" + from.CreatedAt.UTC().Format("20060102T150405Z") + ".backup"
	}
	switch {
	case from.Shards < 2 || c.Shard != nil:
		_, err = c.toFile(ctx, con, from)
	case c.Out == "-":
		err = usagef("a cluster of %d shards has a backup for each: give a folder with -o, or one shard with --shard", from.Shards)
	default:
		err = c.toFolder(ctx, con, r, from)
	}
	from.Close()
	if err == nil && c.Verify {
		// It reads the file and not the connection, so it finds what the disk has lost as well.
		_, err = verifyBackups(ctx, con, c.Out)
		if err == nil {
			con.notef("%s is whole\n", c.Out)
		}
	}
	return err
}

// openBackup asks the leader of a shard for a copy. Its error names the shard, and what to do if no leader has answered.
func (r *remote) openBackup(ctx context.Context, shard uint32) (*client.Backup, error) {
	from, err := r.OpenBackup(ctx, shard)
	switch {
	case err == nil:
		return from, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("shard %d: %w; 'carillon shard list' shows which node leads it: repeat the backup, with a longer --timeout if the disk of that node is slow", shard, err)
	}
	return nil, fmt.Errorf("shard %d: %w", shard, err)
}

// toFile writes a backup to the file of the flags.
func (c *backupTakeCmd) toFile(ctx context.Context, con *console, from *client.Backup) (h backup.Header, err error) {
	write := func(w io.Writer) (err error) {
		h, err = server.WriteBackup(ctx, from, w, con.newByteProgress("fetched").Of)
		return err
	}
	if c.Out == "-" {
		err = write(con.out)
	} else {
		// A file that is there under its name is a whole one.
		err = writeWhole(c.Out, write)
	}
	// The server may remove its copy now, whether or not the file is good.
	from.Close()
	if err != nil {
		return h, fmt.Errorf("back up to %s: %w", showOut(c.Out), err)
	}
	noteBackup(con, c.Out, h)
	return h, nil
}

// noteBackup says what was written.
func noteBackup(con *console, file string, h backup.Header) {
	con.notef("backed up to %s: %s in %s, LSN %d of epoch %d, as of %s\n", showOut(file),
		formatBytes(h.Bytes), plural(h.Files, "file"), h.Position.LSN, h.Position.Epoch, h.CreatedAt.Format(time.RFC3339))
}

// backupVerifyCmd checks a backup and changes nothing.
type backupVerifyCmd struct {
	File string `arg:"" help:"Backup, or the folder of the backups of all shards; - is standard input." complete:"@files"`
	outputFlag
}

// Help is what `carillon backup verify --help` says besides the flags.
func (*backupVerifyCmd) Help() string {
	return `Every byte is checked. Exit status 1 means that the backup cannot be restored; the text says why. In a folder there must be the backups of all shards of one cluster.

Examples:

  carillon backup verify carillon.backup
  gunzip < carillon.backup.gz | carillon backup verify - -o json`
}

// backupReport is the JSON of `backup verify`, and part of the JSON of `restore`. Its names are part of the output and
// do not change.
type backupReport struct {
	File      string    `json:"file"`
	LSN       uint64    `json:"lsn"`
	Epoch     uint64    `json:"epoch"`
	Hash      string    `json:"hash"`
	ClusterID string    `json:"cluster_id"` // "": a node alone
	Shard     uint32    `json:"shard"`
	Shards    int       `json:"shards"` // of the cluster
	CreatedAt time.Time `json:"created_at"`
	Version   string    `json:"version"` // of the server
	Files     int       `json:"files"`
	Bytes     int64     `json:"bytes"`
}

// newBackupReport returns the JSON of the header of a backup.
func newBackupReport(file string, h backup.Header) backupReport {
	r := backupReport{
		File: showFile(file), LSN: h.Position.LSN, Epoch: h.Position.Epoch, Hash: fmt.Sprintf("%x", h.Position.Hash),
		Shard: h.Shard, Shards: max(h.Shards, 1), CreatedAt: h.CreatedAt, Version: h.Product, Files: h.Files, Bytes: h.Bytes,
	}
	if h.ClusterID != [16]byte{} {
		// All zeros is what the backup of a node alone has.
		r.ClusterID = fmt.Sprintf("%x", h.ClusterID)
	}
	return r
}

// Run implements the command.
func (c *backupVerifyCmd) Run(ctx context.Context, con *console) error {
	all, err := verifyBackups(ctx, con, c.File)
	if err != nil {
		return err
	}
	if isFolder(c.File) {
		return c.printSet(con, all)
	}
	r := all[0]
	if c.isDocument() {
		return c.print(con, r)
	}
	t := con.table()
	t.Row("file", r.File)
	t.Row("as of", r.CreatedAt.Format(time.RFC3339))
	t.Row("position", fmt.Sprintf("LSN %d, epoch %d, hash %s", r.LSN, r.Epoch, r.Hash))
	t.Row("cluster", r.ClusterID)
	t.Row("shard", showPart(&r))
	t.Row("made by", r.Version)
	t.Row("content", fmt.Sprintf("%s in %s", formatBytes(r.Bytes), plural(r.Files, "file")))
	t.Row("verdict", "whole")
	return t.Flush()
}

// showPart returns which shard a backup is of.
func showPart(r *backupReport) string {
	if r.Shards < 2 {
		return fmt.Sprint(r.Shard)
	}
	return fmt.Sprintf("%d of %d; a restore needs the backups of all", r.Shard, r.Shards)
}

// verifyBackup reads a backup to its end and checks it. It needs no server and no room: the files in the backup are
// read and dropped.
func verifyBackup(ctx context.Context, con *console, file string) (backup.Header, error) {
	in, closeFile, err := con.open(file)
	if err != nil {
		return backup.Header{}, err
	}
	defer closeFile()
	h, err := backup.Verify(&interruptibleReader{ctx, con.measured(in, "verified")}, nil)
	return h, aboutBackup(file, err)
}

// aboutBackup names the file in an error of package backup. Other errors, such as those of the disk or of the
// connection, name their own place already.
func aboutBackup(file string, err error) error {
	damage := (*backup.DamagedError)(nil)
	for _, known := range []error{backup.ErrNotBackup, backup.ErrVersion, backup.ErrTruncated} {
		if errors.Is(err, known) || errors.As(err, &damage) {
			return fmt.Errorf("%s %w", showFile(file), err)
		}
	}
	return err
}
