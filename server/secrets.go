package server

import (
	"fmt"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/secrets"
)

// openSecrets returns the function that reads the secrets of jobs; nil if there is no directory of them.
func (o Options) openSecrets() (func(job.SecretRef) ([]byte, error), error) {
	if o.SecretsDir == "" {
		return nil, nil
	}
	dir, err := secrets.Open(o.SecretsDir)
	if err != nil {
		return nil, fmt.Errorf("options: %w", err)
	}
	return dir.Read, nil
}
