// Package secrets reads secrets from files: DIR/<tenant>/<name> has the secret that jobs of the tenant name as
// <tenant>/<name>. An operator, or what runs the process, writes the files; this package only reads them.
//
// A reference cannot leave the directory of its tenant: its grammar has no slash and no leading dot beyond the one
// between the two parts, and links are followed only within that directory. So the links of a volume of Kubernetes
// work, and a link to a file elsewhere does not.
package secrets

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/smallfile"
)

// Bounds of the cache. When either is reached, the cache is emptied: that costs one read of each file in use.
const (
	cachedMax      = 1024
	cachedBytesMax = 8 << 20
)

// settled is the age from which a file is cached. A younger one may change again within the resolution of its time,
// which would go unnoticed.
const settled = 2 * time.Second

// Dir is a directory of secrets. It is safe for concurrent use. It keeps no file open.
type Dir struct {
	path string
	now  func() time.Time

	mu     sync.Mutex
	cached map[job.SecretRef]cachedFile
	bytes  int // of the values in cached
}

// cachedFile is the value of a file, and what the file was like when it was read.
type cachedFile struct {
	info  fs.FileInfo
	value []byte
}

// checkedMax bounds the files that Open checks.
const checkedMax = 10_000

// Open returns the directory of secrets at path, which must exist. It refuses one in which other users of the machine may
// put a file, and one with a file that they may read or change (see [smallfile.CheckSecret]), so that a wrong mode is found
// at the start and not at a launch. Tenants and files may come later; Read checks them too.
func Open(path string) (*Dir, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("secrets: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("secrets: %s is no directory; want one with a directory for each tenant", path)
	case info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0:
		return nil, fmt.Errorf("secrets: every user of this machine may write to %s (mode %04o); want at most 0755, best 0700", path, info.Mode().Perm())
	}
	if err := checkAll(path); err != nil {
		return nil, fmt.Errorf("secrets: %w", err)
	}
	return &Dir{path: path, now: time.Now, cached: make(map[job.SecretRef]cachedFile)}, nil
}

// checkAll checks the files that references can name now. What cannot be read is left to the attempt that needs it.
func checkAll(path string) error {
	checked := 0
	tenants, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		files, _ := os.ReadDir(filepath.Join(path, tenant.Name())) // what is no directory has no files
		for _, file := range files {
			ref := job.SecretRef(tenant.Name() + "/" + file.Name())
			if _, _, ok := ref.Cut(); !ok || checked == checkedMax {
				continue
			}
			checked++
			at := filepath.Join(path, tenant.Name(), file.Name())
			about, err := os.Stat(at)
			if err != nil || !about.Mode().IsRegular() {
				continue
			}
			if err := smallfile.CheckSecret(at, about); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
	}
	return nil
}

// Read returns the value of a secret: the bytes of its file without one line end at their end. It reads the file only
// if it has changed. The result must not be changed. An error names the secret, never its value.
func (d *Dir) Read(ref job.SecretRef) ([]byte, error) {
	tenant, name, ok := ref.Cut()
	if !ok {
		return nil, errors.New("a reference to a secret is malformed; want TENANT/NAME")
	}
	value, err := d.read(ref, tenant, name)
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", ref, reasonOf(err))
	}
	return value, nil
}

// reasonOf returns an error without the paths of this machine, which callers of the API need not know.
func reasonOf(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no such file below --secrets-dir")
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*smallfile.PlaceError](err); ok {
		return fmt.Errorf("other users of its machine may replace it: a directory on the way to it %w", e.Err)
	}
	return err
}

// asDirectory makes the system refuse a path that leads to no directory, where to open a pipe would wait for its other end.
const asDirectory = "/."

// read opens the directories by their paths each time, so that a directory that is replaced is the new one at once.
func (d *Dir) read(ref job.SecretRef, tenant, name string) ([]byte, error) {
	root, err := os.OpenRoot(d.path + asDirectory)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	own, err := root.OpenRoot(tenant + asDirectory)
	if err != nil {
		return nil, err
	}
	defer own.Close()
	info, err := own.Stat(name)
	if err != nil {
		return nil, err
	}
	if value, ok := d.known(ref, info); ok {
		return value, nil
	}
	// Without O_NONBLOCK, a pipe that took the place of the file would hold this goroutine for ever.
	file, err := own.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return d.load(ref, filepath.Join(d.path, tenant, name), file)
}

// load reads a file that was opened by a path, and keeps its value.
func (d *Dir) load(ref job.SecretRef, path string, file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	value, err := smallfile.ReadOpen(file, job.SecretBytesMax, func(about fs.FileInfo) error { return smallfile.CheckSecret(path, about) })
	if err != nil {
		return nil, err
	}
	if line, ok := bytes.CutSuffix(value, []byte("\n")); ok {
		value = bytes.TrimSuffix(line, []byte("\r"))
	}
	if len(value) == 0 {
		return nil, errors.New("it is empty")
	}
	d.keep(ref, cachedFile{info, value})
	return value, nil
}

// known returns the cached value of a file, if the file is still the same.
func (d *Dir) known(ref job.SecretRef, info fs.FileInfo) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.cached[ref]
	if !ok || !os.SameFile(c.info, info) || c.info.Size() != info.Size() || !c.info.ModTime().Equal(info.ModTime()) || c.info.Mode() != info.Mode() {
		return nil, false
	}
	return c.value, true
}

// keep puts a value into the cache, in the place of an older one.
func (d *Dir) keep(ref job.SecretRef, c cachedFile) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old, ok := d.cached[ref]; ok {
		d.bytes -= len(old.value)
		delete(d.cached, ref)
	}
	if d.now().Sub(c.info.ModTime()) < settled {
		return
	}
	if len(d.cached) >= cachedMax || d.bytes+len(c.value) > cachedBytesMax {
		clear(d.cached)
		d.bytes = 0
	}
	d.cached[ref] = c
	d.bytes += len(c.value)
}
