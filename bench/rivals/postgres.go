package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// postgresPrograms returns the directory of initdb and postgres.
func postgresPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's place
	if len(found) == 0 {
		return "", errors.New("PostgreSQL is not there: run ./install.sh, or put initdb into the PATH")
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// postgresVersion returns what the server says of itself.
func postgresVersion() (string, error) {
	dir, err := postgresPrograms()
	if err != nil {
		return "", err
	}
	text, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	return strings.TrimSpace(string(text)), err
}

// postgres is a PostgreSQL server on a directory of its own.
type postgres struct {
	*process
	dir string
	url string
}

// startPostgres makes a new cluster and starts a server on it.
func startPostgres(ctx context.Context, dir string) (*postgres, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	owner, err := postgresOwner(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "--pgdata", data, "--username", "postgres",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync")
	initdb.SysProcAttr = owner
	initdb.Dir = dir
	if text, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb in %s, where its user must get to: %w\n%s", dir, err, text)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200",
		"-c", "fsync=on", "-c", "synchronous_commit=on", "-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB")
	cmd.SysProcAttr = owner
	cmd.Dir = dir
	p, err := startProcess(cmd, filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	s := &postgres{process: p, dir: data}
	s.url = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
	err = p.await(ctx, "PostgreSQL", func() error {
		conn, err := pgx.Connect(ctx, s.url)
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	})
	if err != nil {
		p.kill()
		return nil, err
	}
	return s, nil
}

// postgresOwner gives the directory to a user that PostgreSQL agrees to run as: it refuses root.
func postgresOwner(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root, and there is no user for it: %w", err)
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(owner.Gid)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	// The directory above is ours; others may pass through it.
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// stop ends the server and its children at once, with no checkpoint.
func (s *postgres) stop() { s.end(syscall.SIGQUIT, stopWait) }

func (s *postgres) data() string { return s.dir }
