package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// fileMax bounds a file of an archive, in bytes; the binary has some 40 MiB.
const fileMax = 256 << 20

// unpack writes the files of an archive into a directory, without the directory that they have in common.
func unpack(packed io.Reader, dir string) error {
	plain, err := gzip.NewReader(packed)
	if err != nil {
		return err
	}
	for files := tar.NewReader(plain); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(head.Name, "/")
		if head.Typeflag != tar.TypeReg || !filepath.IsLocal(name) || head.Size > fileMax {
			return fmt.Errorf("%q is no file of a release", head.Name)
		}
		if err := writeFile(filepath.Join(dir, name), files); err != nil {
			return err
		}
	}
}

func writeFile(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}
