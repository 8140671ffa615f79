package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// architectures lists those of a release for Linux. Both formats of packages know them by Go's names.
var architectures = []string{"amd64", "arm64"}

// release holds the parameters of one run.
type release struct {
	version version
	made    time.Time // the time of all files: that of the commit
	dist    string    // directory with the archives, and for the packages
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		os.Exit(1)
	}
}

func run() error {
	stamp := flag.String("version", "", "version of the release, such as v1.2.0")
	seconds := flag.Int64("time", 0, "time of everything in it, in seconds of Unix time: that of the commit")
	dist := flag.String("dist", "dist", "directory of the release")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; want flags only", flag.Arg(0))
	}
	v, err := parseVersion(*stamp)
	if err != nil {
		return err
	}
	return release{v, time.Unix(*seconds, 0).UTC(), *dist}.make()
}

// make makes the packages of all architectures whose archive is in the directory. No archive at all is an error.
func (r release) make() error {
	var names []string
	for _, arch := range architectures {
		made, err := r.makeArch(arch)
		if err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
		names = append(names, made...)
	}
	if len(names) == 0 {
		return fmt.Errorf("%s has no archive %s; run make release first", r.dist, r.archive("ARCH"))
	}
	return addChecksums(r.dist, names)
}

// archive returns the name of the archive for an architecture.
func (r release) archive(arch string) string {
	return fmt.Sprintf("carillon_%s_linux_%s.tar.gz", r.version.name, arch)
}

// makeArch makes the packages of one architecture, and returns their names. Without an archive there are none.
func (r release) makeArch(arch string) ([]string, error) {
	packed, err := os.ReadFile(filepath.Join(r.dist, r.archive(arch)))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "carillon-packages-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := unpack(bytes.NewReader(packed), dir); err != nil {
		return nil, fmt.Errorf("%s: %w", r.archive(arch), err)
	}
	if err := r.prepare(dir); err != nil {
		return nil, err
	}
	var names []string
	for _, f := range formats {
		name, err := r.makePackage(f, arch, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		names = append(names, name)
	}
	return names, nil
}
