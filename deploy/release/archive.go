package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"io"
	"path"
	"slices"
	"time"
)

// writeArchive writes files as a gzipped tar, below one directory. The bytes depend only on the parameters: the gzip
// header is empty, and the header of each file has the given time and no owner. The format is USTAR, which has no room
// for what differs between machines, such as times below a second.
func writeArchive(w io.Writer, dir string, files []file, made time.Time) error {
	zipped, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	sorted := slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for _, f := range sorted {
		head := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(dir, f.name), Mode: f.mode, Size: int64(len(f.content)),
			ModTime: made, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := archive.Write(f.content); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}
