package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/carillon-io/carillon/smallfile"
)

// passwordFileBytesMax bounds the file of --cluster-password-file.
const passwordFileBytesMax = 4 << 10

// clusterPassword returns the password of the cluster, of the flag or of the file; "" without one. A line end at the end of
// the file is no part of it.
func (c *serveCmd) clusterPassword() (string, error) {
	if c.ClusterPasswordFile == "" {
		return c.ClusterPassword, nil
	}
	if c.ClusterPassword != "" {
		return "", errors.New("--cluster-password-file and a password (CARILLON_CLUSTER_PASSWORD, or cluster_password in the file of --config) exclude each other: leave one out")
	}
	text, err := smallfile.ReadSecret(c.ClusterPasswordFile, passwordFileBytesMax)
	if err != nil {
		return "", fmt.Errorf("--cluster-password-file: %w", err)
	}
	password := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case password == "":
		return "", fmt.Errorf("--cluster-password-file: %s is empty; want one line with the password", c.ClusterPasswordFile)
	case strings.ContainsRune(password, 0):
		return "", fmt.Errorf("--cluster-password-file: %s has a NUL byte, which no variable and no key of a config file could have; want one line of text", c.ClusterPasswordFile)
	case strings.ContainsAny(password, "\r\n"):
		return "", fmt.Errorf("--cluster-password-file: %s has several lines; want one line with the password", c.ClusterPasswordFile)
	}
	return password, nil
}
