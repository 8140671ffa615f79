package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// makeImage writes what the container image holds, for each platform in a directory of its own with the names that
// builders of images give them: linux/amd64. The binary is that of the archive, to the last byte. The roots that the
// image trusts are written by deploy/roots.
func (r *release) makeImage(ctx context.Context) error {
	if err := r.validate(); err != nil {
		return err
	}
	for _, p := range r.platforms {
		if p.os != "linux" {
			return fmt.Errorf("%s: an image is for Linux; want linux/amd64 or linux/arm64 (--platforms)", p)
		}
		if err := r.makeImageOf(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return os.MkdirAll(filepath.Join(r.out, "data"), 0o755) // a volume gets its owner from the directory of the image
}

// makeImageOf writes the files of the image of one platform.
func (r *release) makeImageOf(ctx context.Context, p platform) error {
	dir, err := filepath.Abs(filepath.Join(r.out, p.os, p.arch))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = r.build(ctx, p, filepath.Join(dir, "carillon"))
	}
	if err != nil {
		return err
	}
	licences, err := r.licences(ctx, p)
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(r.src, "LICENSE"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, licencesName), licences, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "LICENSE"), own, 0o644)
}
