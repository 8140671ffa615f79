package daybook

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// The header: magic, version, number of records.
const (
	magic   = "CRLNDAYB"
	version = 1
)

// VersionError is the error of [Open] for a file of a later format. The file is unchanged.
type VersionError struct {
	Path    string
	Version uint32
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d, and this carillon knows %d; it stays as it is for the carillon that wrote it", e.Path, e.Version, version)
}

// Book is an open daybook. Its methods are safe for concurrent use.
type Book struct {
	mu   sync.Mutex
	file *os.File
	// ring has what the file has; a place without a record has the zero value.
	ring [Minutes]Minute
}

// Open opens the daybook at a path, and makes one if there is none. A file that is no daybook is emptied: it holds nothing
// that could be read. A file of a later format is a [*VersionError]. Only one process at a time may have it open; the lock
// of the data directory sees to that.
func Open(path string) (*Book, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the daybook: %w", err)
	}
	b := &Book{file: f}
	if err := b.load(path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return b, nil
}

// load reads the file, or writes an empty one.
func (b *Book) load(path string) error {
	text, err := io.ReadAll(io.LimitReader(b.file, headerBytes+Minutes*recordBytes))
	if err != nil {
		return fmt.Errorf("read the daybook: %w", err)
	}
	isOurs := len(text) >= headerBytes && isWhole(text[:headerBytes]) && bytes.HasPrefix(text, []byte(magic))
	if !isOurs {
		return b.reset()
	}
	if v := binary.LittleEndian.Uint32(text[8:]); v != version {
		return &VersionError{path, v}
	}
	for place := range b.ring {
		from := headerBytes + place*recordBytes
		if from+recordBytes > len(text) {
			break // the file was cut short: the rest holds nothing
		}
		b.ring[place], _ = decode(text[from:from+recordBytes], place)
	}
	return nil
}

// reset makes the file an empty daybook. It has its whole size from the beginning, so that no later write changes it.
func (b *Book) reset() error {
	text := make([]byte, headerBytes+Minutes*recordBytes)
	copy(text, magic)
	binary.LittleEndian.PutUint32(text[8:], version)
	binary.LittleEndian.PutUint32(text[12:], Minutes)
	seal(text[:headerBytes])
	_, err := b.file.WriteAt(text, 0)
	if err == nil {
		err = b.file.Truncate(int64(len(text)))
	}
	if err != nil {
		return fmt.Errorf("make a daybook: %w", err)
	}
	return nil
}

// Put records a minute. If the book has a part of it, from before a restart, it joins both. The record is not synced; see
// the package comment.
func (b *Book) Put(m Minute) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	m.At = m.At.UTC().Truncate(time.Minute)
	place := slot(number(m.At))
	if b.ring[place].At.Equal(m.At) {
		m = join(b.ring[place], m)
	}
	if _, err := b.file.WriteAt(encode(m), int64(headerBytes+place*recordBytes)); err != nil {
		return fmt.Errorf("write the daybook: %w", err)
	}
	b.ring[place] = m
	return nil
}

// Since returns the minutes that began at or after an instant and not after now, the oldest first. The caller owns the
// slice. Minutes in which the process did not run are missing.
func (b *Book) Since(from, now time.Time) []Minute {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Minute, 0, Minutes)
	last := number(now)
	for minute := last - min(last, Minutes-1); minute <= last; minute++ {
		m := b.ring[slot(minute)]
		if number(m.At) == minute && !m.At.Before(from) && !m.At.IsZero() {
			list = append(list, m)
		}
	}
	return list
}

// Close syncs the file and closes it. Put fails afterwards.
func (b *Book) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return errors.Join(b.file.Sync(), b.file.Close())
}
