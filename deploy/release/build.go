package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// platform is an operating system and an architecture, with Go's names.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// parsePlatforms reads a list such as linux/amd64,darwin/arm64.
func parsePlatforms(list string) (all []platform, err error) {
	for one := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == one })
		if i < 0 {
			return nil, fmt.Errorf("the platform %q is unknown; want one of %v", one, platforms)
		}
		if slices.Contains(all, platforms[i]) {
			return nil, fmt.Errorf("the platform %q is there twice", one)
		}
		all = append(all, platforms[i])
	}
	return all, nil
}

// settings returns the environment variables that change the code that Go generates, with fixed values. A variable
// that is set in the environment of the build would otherwise change the bytes.
func (p platform) settings() []string {
	return []string{
		"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOFLAGS=", "GOWORK=off", "GODEBUG=",
	}
}

// build builds the binary of a platform. The build id and the stamp of the version control are left out, because they
// depend on the place and the state of the checkout.
func (r *release) build(ctx context.Context, p platform, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", binary, "./cmd/carillon")
	cmd.Dir, cmd.Env = r.src, append(os.Environ(), p.settings()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// file is one file of an archive. Its owner and time are not here: all files of an archive have the same.
type file struct {
	name    string // path with slashes, relative to the directory of the archive
	mode    int64
	content []byte
}

// writeManual makes the manual page with a binary for this machine. The page does not depend on the platform or on
// paths. It builds one more binary for this, because those of other platforms do not run here.
func (r *release) writeManual(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "carillon-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "carillon")
	if err := r.build(ctx, platform{runtime.GOOS, runtime.GOARCH}, binary); err != nil {
		return err
	}
	if r.manual, err = exec.CommandContext(ctx, binary, "man").Output(); err != nil {
		return fmt.Errorf("manual page: %w", err)
	}
	return nil
}

// carried lists the files that an archive has besides the binary; those of systemd are for Linux only.
var (
	carried = []string{
		"CHANGELOG.md", "LICENSE", "README.md",
		"cmd/carillon/completion/carillon.bash", "cmd/carillon/completion/carillon.fish", "cmd/carillon/completion/carillon.zsh",
	}
	carriedLinux = []string{"deploy/systemd/carillon.env", "deploy/systemd/carillon.service", "deploy/systemd/carillon.sysusers", "deploy/systemd/carillon-worker.service", "deploy/systemd/worker.env"}
)

// files reads the files for the archive of a platform. The archive has the completions and units without the folders
// in which they are kept in the sources.
func (r *release) files(ctx context.Context, p platform, binary string) ([]file, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	licences, err := r.licences(ctx, p)
	if err != nil {
		return nil, err
	}
	files := []file{{"carillon", 0o755, content}, {"man/carillon.1", 0o644, r.manual}, {licencesName, 0o644, licences}}
	names := carried
	if p.os == "linux" {
		names = slices.Concat(carried, carriedLinux)
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(r.src, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "deploy/"), "cmd/carillon/")
		files = append(files, file{name, 0o644, content})
	}
	return files, nil
}
