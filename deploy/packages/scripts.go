package main

import (
	"embed"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
)

//go:embed scripts/*.sh
var scripts embed.FS

// addScripts gives a package the scripts that run on the machine. nfpm reads them from files.
func addScripts(info *nfpm.Info, dir string) error {
	for name, where := range map[string]*string{
		"postinstall.sh": &info.Scripts.PostInstall,
		"preremove.sh":   &info.Scripts.PreRemove,
		"postremove.sh":  &info.Scripts.PostRemove,
	} {
		text, err := scripts.ReadFile("scripts/" + name)
		if err != nil {
			return err
		}
		*where = filepath.Join(dir, name)
		if err := os.WriteFile(*where, text, 0o755); err != nil {
			return err
		}
	}
	return nil
}
