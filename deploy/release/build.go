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

// platform is what a binary runs on, in the words of Go.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "/" + p.arch }

// parsePlatforms reads a list such as linux/amd64,darwin/arm64.
func parsePlatforms(list string) (all []platform, err error) {
	for one := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == one })
		if i < 0 {
			return nil, fmt.Errorf("the platform %q is none of those that binaries are made for: %v", one, platforms)
		}
		if slices.Contains(all, platforms[i]) {
			return nil, fmt.Errorf("the platform %q is there twice", one)
		}
		all = append(all, platforms[i])
	}
	return all, nil
}

// settings are those of the environment that change the code that Go makes.
func (p platform) settings() []string {
	return []string{
		"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOFLAGS=", "GOWORK=off", "GODEBUG=",
	}
}

// build makes the binary of a platform.
func (r *release) build(ctx context.Context, p platform, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", binary, "./cmd/carillon")
	cmd.Dir, cmd.Env = r.src, append(os.Environ(), p.settings()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// file is what goes into an archive.
type file struct {
	name    string // with slashes, below the directory of the archive
	mode    int64
	content []byte
}

// writeManual lets a binary for this machine write the manual page. It says nothing of platform or place.
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

// carried are the files that go along with the binary; those of systemd on Linux only.
var (
	carried = []string{
		"CHANGELOG.md", "LICENSE", "README.md",
		"cmd/carillon/completion/carillon.bash", "cmd/carillon/completion/carillon.fish", "cmd/carillon/completion/carillon.zsh",
	}
	carriedLinux = []string{"deploy/systemd/carillon.env", "deploy/systemd/carillon.service", "deploy/systemd/carillon.sysusers"}
)

// files reads what goes into the archive of a platform.
func (r *release) files(p platform, binary string) ([]file, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	files := []file{{"carillon", 0o755, content}, {"man/carillon.1", 0o644, r.manual}}
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
