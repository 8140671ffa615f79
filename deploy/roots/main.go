// Command roots writes the root certificates of the container image as PEM to the standard output.
//
// They are those of Mozilla's list, as the module golang.org/x/crypto/x509roots/fallback has them; go.sum fixes its
// content, so the same commit gives the same bytes. A root that Mozilla trusts under conditions only, such as for
// certificates of before some day, is left out: a PEM file cannot say so.
//
// It is a module of its own, so that the list is no dependency of the server.
package main

import (
	"bufio"
	"encoding/pem"
	"fmt"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			fail(err)
		}
	}
	if err := out.Flush(); err != nil {
		fail(err)
	}
}

// fail ends the program with an error.
func fail(err error) {
	fmt.Fprintln(os.Stderr, "roots:", err)
	os.Exit(1)
}
