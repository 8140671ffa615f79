//go:build !unix

package terminal

import (
	"context"
	"errors"
	"os"
)

// ReadSecret returns an error: this operating system is not asked to hide what is typed.
func ReadSecret(context.Context, *os.File, int) (string, error) {
	return "", errors.New("what is typed cannot be hidden on this system")
}
