package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// checksums is the name of the file with the checksums of all other files.
const checksums = "SHA256SUMS"

// platforms lists the platforms of a release.
var platforms = []platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}}

// release holds the parameters of one run. It is filled by run and then only read, apart from manual, which make
// writes once.
type release struct {
	version   string
	made      time.Time // the time of all files: that of the commit
	src       string    // root directory of the sources
	out       string    // directory for the files
	platforms []platform
	manual    []byte // the manual page, which is the same for all
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run() error {
	version := flag.String("version", "", "version to stamp, such as v1.2.0")
	seconds := flag.Int64("time", 0, "time of everything in it, in seconds of Unix time: that of the commit")
	out := flag.String("out", "dist", "directory for the files; those of an earlier release of the same name are overwritten")
	only := flag.String("platforms", "", "build these, such as linux/amd64,darwin/arm64; default: all")
	image := flag.Bool("image", false, "write the files of the container image instead of archives")
	flag.Parse()
	r := release{version: *version, made: time.Unix(*seconds, 0).UTC(), src: ".", out: *out, platforms: platforms}
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; want flags only", flag.Arg(0))
	}
	if *only != "" {
		var err error
		if r.platforms, err = parsePlatforms(*only); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *image {
		return r.makeImage(ctx)
	}
	return r.make(ctx)
}

// make builds all files. It writes the checksums last, so that an interrupted release has none. Files of platforms
// that are ready stay after an error.
func (r *release) make(ctx context.Context) error {
	if err := r.validate(); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := r.writeManual(ctx); err != nil {
		return err
	}
	var names []string
	for _, p := range r.platforms {
		made, err := r.makePlatform(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		names = append(names, made...)
	}
	return r.writeChecksums(names)
}

// validate returns an error for a version that cannot be part of a file name. The characters are those that no shell
// and no file system treats specially.
func (r *release) validate() error {
	if r.version == "" || strings.ContainsFunc(r.version, func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_+", c)
	}) {
		return fmt.Errorf("the version %q cannot be part of a file name; want one such as v1.2.0 (--version)", r.version)
	}
	return nil
}

// name returns the name of the files of a platform, without their extensions.
func (r *release) name(p platform) string {
	return fmt.Sprintf("carillon_%s_%s_%s", strings.TrimPrefix(r.version, "v"), p.os, p.arch)
}

// makePlatform builds the archive and the SPDX document of a platform. It returns the names of the two files. The
// archive is built in memory and written at once; it is about as large as the binary.
func (r *release) makePlatform(ctx context.Context, p platform) ([]string, error) {
	dir, err := os.MkdirTemp("", "carillon-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "carillon")
	if err := r.build(ctx, p, binary); err != nil {
		return nil, err
	}
	bill, err := r.bill(p, binary)
	if err != nil {
		return nil, err
	}
	files, err := r.files(ctx, p, binary)
	if err != nil {
		return nil, err
	}
	name := r.name(p)
	var archive bytes.Buffer
	if err := writeArchive(&archive, name, files, r.made); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(r.out, name+".tar.gz"), archive.Bytes(), 0o644); err != nil {
		return nil, err
	}
	return []string{name + ".tar.gz", name + ".spdx.json"}, os.WriteFile(filepath.Join(r.out, name+".spdx.json"), bill, 0o644)
}

// writeChecksums writes the checksums in the format of `sha256sum -c`.
func (r *release) writeChecksums(names []string) error {
	slices.Sort(names)
	var sums bytes.Buffer
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
	}
	return os.WriteFile(filepath.Join(r.out, checksums), sums.Bytes(), 0o644)
}
