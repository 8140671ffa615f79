package main

import (
	"fmt"
	"io"
	"os"
)

// readFileMax reads a file that is expected to be small, and refuses one that is not before it fills
// the memory.
func readFileMax(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readAllMax(f, most)
}

func readAllMax(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("has more than %d bytes, which is the limit", most)
	}
	return b, err
}

// readInput reads what an argument such as FILE or - names.
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

// open returns what an argument such as FILE or - names, and what to call when it is read.
func (c *console) open(name string) (io.Reader, func(), error) {
	if name == "-" {
		return c.in, func() {}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}

// showFile is what to call an argument such as FILE or - in a message.
func showFile(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}
