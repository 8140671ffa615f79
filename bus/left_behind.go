package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/carillon-io/carillon/job"
)

// The directory of the embedded server may have streams of tenants that the file of rights does not name any more: by a mistake in the
// file, or for ever. In a cluster the server begins a stream only when it learns of it, at its start, and only if the account is there.
// So the accounts of such tenants are made too. No client can connect to them, and when the file names the tenant again, its streams are
// served.

// leftBehind returns the tenants, other than those given, that have streams in the directory of an embedded server, sorted.
func leftBehind(storeDir string, tenants []Tenant) (names []string, err error) {
	dir := filepath.Join(storeDir, "jetstream")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for streams of former tenants: %w", err)
	}
	for _, e := range entries {
		isNamed := slices.ContainsFunc(tenants, func(t Tenant) bool { return t.Name == e.Name() })
		if isNamed || job.ValidateTenant(e.Name()) != nil || !hasStreams(storeDir, e.Name()) {
			continue
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// hasStreams reports whether the directory of an embedded server has streams of a tenant.
func hasStreams(storeDir, tenant string) bool {
	streams, _ := os.ReadDir(filepath.Join(storeDir, "jetstream", accountName(tenant, false), "streams"))
	return len(streams) > 0
}
