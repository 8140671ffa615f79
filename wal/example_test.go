package wal_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carillon-io/carillon/wal"
)

// A commit is durable in the log when Append returns. A reader replays the log from any commit that the
// log still has.
func Example() {
	parent, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(parent)

	log, err := wal.Open(wal.Options{Dir: filepath.Join(parent, "wal")})
	if err != nil {
		panic(err)
	}
	defer log.Close()
	for _, bell := range []string{"do", "re", "mi"} {
		if _, err := log.Append(1, []byte(bell)); err != nil {
			panic(err)
		}
	}

	reader, err := log.NewReader(2)
	if err != nil {
		panic(err)
	}
	defer reader.Close()
	for {
		frame, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d %s\n", frame.LSN, frame.Payload)
	}
	// Output:
	// 2 re
	// 3 mi
}
