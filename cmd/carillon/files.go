package main

import (
	"fmt"
	"io"
	"os"
)

// readFileMax reads a file of at most so many bytes and refuses a larger one without reading all of it.
func readFileMax(path string, most int64) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readAllMax(f, most)
}

// openFile opens a file that the command line names. That it cannot be opened is a mistake of the command line.
func openFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return f, nil
}

// checkFiles fails if a file of an argument cannot be opened. It is for commands that act before they come to the last of
// their files. A pipe is not opened: it can be read only once.
func checkFiles(names []string) error {
	for _, name := range names {
		if name == "-" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return usagef("%w", err)
		}
		if !info.Mode().IsRegular() {
			continue
		}
		f, err := openFile(name)
		if err != nil {
			return err
		}
		_ = f.Close()
	}
	return nil
}

// readAllMax reads r to its end, and fails if it has more than most bytes. It reads one byte more than the limit, to
// distinguish a text of exactly that size from a longer one.
func readAllMax(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("has more than %d bytes, which is the limit", most)
	}
	return b, err
}

// readInput reads the file of an argument, or the standard input if it is -, up to a limit in bytes.
func (c *console) readInput(name string, most int64) ([]byte, error) {
	if name == "-" {
		b, err := readAllMax(c.in, most)
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		return b, err
	}
	return readFileMax(name, most)
}

// open opens the file of an argument, or returns the standard input if it is -. The caller calls the function when
// done. The standard input is not closed, because it is not the command's.
func (c *console) open(name string) (io.Reader, func(), error) {
	if name == "-" {
		return c.in, func() {}, nil
	}
	f, err := openFile(name)
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

// showOut returns the name of the file that a command writes for a message.
func showOut(name string) string {
	if name == "-" {
		return "stdout"
	}
	return name
}

// showFile returns the name of the file that a command reads for a message.
func showFile(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}
