package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers itself
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers itself
)

// format is a format of packages. Distributions that use the one or the other keep completions of zsh in different places.
type format struct {
	name string // as nfpm knows it, and the ending of the file
	zsh  string
}

var formats = []format{
	{"deb", "/usr/share/zsh/vendor-completions/_carillon"},
	{"rpm", "/usr/share/zsh/site-functions/_carillon"},
}

// settings is the type of files that an upgrade leaves as their owner has changed them.
const settings = files.TypeConfigNoReplace

// placed says where a file of an archive goes.
type placed struct {
	from, to string
	mode     os.FileMode
	kind     string // of nfpm; "" is a plain file
}

// contents lists the files of a package. What the archive has besides them is for machines without packages.
func (f format) contents() []placed {
	return []placed{
		{"carillon", "/usr/bin/carillon", 0o755, ""},
		{"man/carillon.1.gz", "/usr/share/man/man1/carillon.1.gz", 0o644, ""},
		{"completion/carillon.bash", "/usr/share/bash-completion/completions/carillon", 0o644, ""},
		{"completion/carillon.fish", "/usr/share/fish/vendor_completions.d/carillon.fish", 0o644, ""},
		{"completion/carillon.zsh", f.zsh, 0o644, ""},
		{"systemd/carillon.service", "/usr/lib/systemd/system/carillon.service", 0o644, ""},
		{"systemd/carillon-worker.service", "/usr/lib/systemd/system/carillon-worker.service", 0o644, ""},
		{"systemd/carillon.sysusers", "/usr/lib/sysusers.d/carillon.conf", 0o644, ""},
		// These may contain secrets, which systemd reads as root.
		{"systemd/carillon.env", "/etc/carillon/carillon.env", 0o600, settings},
		{"systemd/worker.env", "/etc/carillon/worker.env", 0o600, settings},
		{"README.md", "/usr/share/doc/carillon/README.md", 0o644, ""},
		{"CHANGELOG.md", "/usr/share/doc/carillon/CHANGELOG.md", 0o644, ""},
		{"LICENSE", "/usr/share/doc/carillon/copyright", 0o644, ""},
		{"LICENSES.txt", "/usr/share/doc/carillon/LICENSES.txt", 0o644, ""},
	}
}

// prepare changes the unpacked files to what a package has: a compressed manual page, and units that start the binary of
// the package.
func (r release) prepare(dir string) error {
	manual, err := os.ReadFile(filepath.Join(dir, "man", "carillon.1"))
	if err != nil {
		return err
	}
	if manual, err = compress(manual); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "man", "carillon.1.gz"), manual, 0o644); err != nil {
		return err
	}
	for _, unit := range []string{"carillon.service", "carillon-worker.service"} {
		path := filepath.Join(dir, "systemd", unit)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		placed := strings.ReplaceAll(string(text), "/usr/local/bin/carillon", "/usr/bin/carillon")
		placed = strings.ReplaceAll(placed, "/etc/systemd/system/"+unit, "/usr/lib/systemd/system/"+unit)
		if err := os.WriteFile(path, []byte(placed), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compress returns a text in gzip, without a name and a time.
func compress(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}

// makePackage makes one package from the unpacked files, and returns its name.
func (r release) makePackage(f format, arch, dir string) (string, error) {
	info := &nfpm.Info{
		Name: "carillon", Arch: arch, Platform: "linux", Version: r.version.pack, VersionSchema: "semver", Release: "1",
		Section: "admin", Priority: "optional", Maintainer: "The Carillon authors <carillon@example.com>",
		Description: "durable job scheduler in one binary\nCarillon holds millions of jobs and fires each at its millisecond, to NATS, JetStream and HTTP.",
		Homepage:    "https://github.com/carillon-io/carillon", License: "Apache-2.0", MTime: r.made, DisableGlobbing: true,
	}
	for _, p := range f.contents() {
		info.Contents = append(info.Contents, &files.Content{
			Source: filepath.Join(dir, p.from), Destination: p.to, Type: p.kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: p.mode, MTime: r.made},
		})
	}
	if err := addScripts(info, dir); err != nil {
		return "", err
	}
	packager, err := nfpm.Get(f.name)
	if err != nil {
		return "", err
	}
	info = nfpm.WithDefaults(info)
	name := packager.ConventionalFileName(info)
	var content bytes.Buffer
	if err := packager.Package(info, &content); err != nil {
		return "", err
	}
	return name, os.WriteFile(filepath.Join(r.dist, name), content.Bytes(), 0o644)
}
