package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// version is the version of a release, as file names and packages have it.
type version struct {
	name string // in file names: 1.2.0
	pack string // of the packages, in SemVer: 1.2.0, or 0.0.0-git.1a2b3c4, which is older than every release
}

// parseVersion reads a version such as v1.2.0. One that is not SemVer, such as that of a commit without a tag, becomes
// that of a build before the first release.
func parseVersion(stamp string) (version, error) {
	name := strings.TrimPrefix(stamp, "v")
	if name == "" {
		return version{}, errors.New("the version is missing; want one such as v1.2.0 (--version)")
	}
	if _, err := semver.StrictNewVersion(name); err == nil {
		return version{name, name}, nil
	}
	pack := "0.0.0-git." + name
	if _, err := semver.StrictNewVersion(pack); err != nil {
		return version{}, fmt.Errorf("the version %q cannot be that of a package; want one such as v1.2.0 (--version)", stamp)
	}
	return version{name, pack}, nil
}
