package access

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carillon-io/carillon/job"
	"github.com/carillon-io/carillon/smallfile"
)

// Keeper keeps the rights of a file, and reads the file again when it changes. A nil Keeper stands for a server without
// rights, on which every caller may do everything. Its methods are safe for concurrent use.
type Keeper struct {
	path   string
	logger *slog.Logger
	// changed is called after each change of the rights; nil: nothing is.
	changed func()
	checks  []func(*Table) error
	table   atomic.Pointer[Table]

	refused atomic.Uint64 // reads that found a bad file
	isBad   atomic.Bool   // the file that is there now is not in force
	denied  denials
	rates   rates
	streams streams

	mu     sync.Mutex  // guards a read of the file
	looked fs.FileInfo // of the file that was read last, also if it was bad; nil: none was there
}

// lookEvery is the time between two looks at the file.
const lookEvery = 2 * time.Second

// Open reads a file of rights. An error names the file and the line. The file must not be readable by other users of the
// machine, because the hashes and the names in it are a help to an attacker. changed is called after each later change of
// the rights, and must not call the Keeper's Reload; nil: nothing is. A file for which one of the checks returns an error is
// bad.
func Open(path string, logger *slog.Logger, changed func(), checks ...func(*Table) error) (*Keeper, error) {
	k := &Keeper{path: path, logger: logger, changed: changed, checks: checks}
	table, err := k.read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k.table.Store(table)
	return k, nil
}

// Table returns the rights that are in force; nil for a nil Keeper.
func (k *Keeper) Table() *Table {
	if k == nil {
		return nil
	}
	return k.table.Load()
}

// IsCurrent reports whether a caller was recognized by the file in force. If not, it may have lost its rights, or what it has shown may
// no longer count. A nil Keeper has no file.
func (k *Keeper) IsCurrent(w Who) bool { return k == nil || w.by == k.table.Load() }

// Tenant returns what the file in force says of a tenant, as [Table.Tenant] does; the zero value, which restricts nothing,
// for a nil Keeper. The result must not be changed.
func (k *Keeper) Tenant(name string) Tenant {
	if k == nil {
		return Tenant{}
	}
	return k.Table().Tenant(name)
}

// PartyOf returns the tenant by which places are shared. With rights, the tenants that the file does not list are one, "".
func (k *Keeper) PartyOf(tenant string) string {
	if t := k.Table(); t != nil && !t.Lists(tenant) {
		return ""
	}
	return tenant
}

// Known returns a caller whom another node of the cluster has recognized, as the principal of a name, by some means. The
// rights are those of this node's file; the zero value is returned if it has no such principal, or one that is recognized by
// other means. For a nil Keeper it has the means alone, by which the audit log and refusals name the caller.
func (k *Keeper) Known(principal, means string) Who {
	if k == nil {
		return Who{Means: means}
	}
	p := k.Table().named(principal, means)
	if p == nil {
		return Who{}
	}
	return Who{Principal: p, Means: means}
}

// Watch reads the file again when it changes, until ctx ends. The caller runs it in a goroutine.
func (k *Keeper) Watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if k.hasChanged() {
				k.Reload()
			}
		}
	}
}

// Reload reads the file again. A bad file keeps the rights that are in force; it is logged and counted, and the status
// warns as long as it is there.
func (k *Keeper) Reload() {
	k.mu.Lock()
	defer k.mu.Unlock()
	table, err := k.read()
	k.isBad.Store(err != nil)
	if err != nil {
		k.refused.Add(1)
		k.logger.Error("the changed file of rights is bad; the rights from before stay in force", slog.String("path", k.path), slog.Any("error", err))
		return
	}
	k.warnOpened(k.table.Load(), table)
	k.table.Store(table)
	k.rates.keep(table, time.Now())
	k.logger.Info("the file of rights was read", slog.String("path", k.path), slog.Int("principals", table.Principals()), slog.Int("tenants", table.Tenants()))
	if k.changed != nil {
		k.changed()
	}
}

// FileWarnings returns what only those who may know of the server's files should read: which file is not in force.
func (k *Keeper) FileWarnings() []string {
	if !k.IsFileBad() {
		return nil
	}
	return []string{fmt.Sprintf("the bad file of rights is %s", k.path)}
}

// warnOpened logs which tenants a new file restricts no longer, although it lists them: a list that is taken out opens
// everything, and may have been taken out by mistake.
func (k *Keeper) warnOpened(was, now *Table) {
	for _, name := range was.TenantNames() {
		before, after := was.Tenant(name).Targets, now.Tenant(name).Targets
		if !after.IsUnlisted && (before.Subjects != nil && after.Subjects == nil || before.Hosts != nil && after.Hosts == nil) {
			k.logger.Warn("the file of rights restricts the targets of a tenant no longer", slog.String(job.LogTenant, name))
		}
	}
}

// Refused returns how many reads found a bad file since the start. It returns 0 for a nil Keeper.
func (k *Keeper) Refused() uint64 {
	if k == nil {
		return 0
	}
	return k.refused.Load()
}

// IsFileBad reports whether the file that is there now is not in force. It returns false for a nil Keeper.
func (k *Keeper) IsFileBad() bool { return k != nil && k.isBad.Load() }

// InForce returns how many principals and tenants the file in force has, with the tenant default, and when it was read. It
// returns zeros for a nil Keeper.
func (k *Keeper) InForce() (principals, tenants int, readAt time.Time) {
	if k == nil {
		return 0, 0, time.Time{}
	}
	t := k.Table()
	return t.Principals(), t.Tenants(), t.readAt
}

// Warnings returns that the file that is there now is not in force; none if it is, and for a nil Keeper. It says neither
// which file nor why, because each caller with any role reads the warnings, and the reason names principals. It does not
// wait for a read.
func (k *Keeper) Warnings() []string {
	if !k.IsFileBad() {
		return nil
	}
	return []string{"the file of rights is bad, and the rights from before stay in force: the log and `carillon auth check` say why"}
}

// hasChanged reports whether the file is another one than that which was read last. A file that cannot be read counts as
// changed once.
func (k *Keeper) hasChanged() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, err := os.Stat(k.path)
	was := k.looked
	if err != nil || was == nil {
		return (err == nil) != (was != nil)
	}
	return !now.ModTime().Equal(was.ModTime()) || now.Size() != was.Size() || now.Mode() != was.Mode() || !os.SameFile(now, was)
}

// read reads and checks the file, and notes which one it was. It notes the file before it opens it, so that a file that
// changes meanwhile is read once more.
func (k *Keeper) read() (*Table, error) {
	k.looked, _ = os.Stat(k.path) // nil without one; the reading below says why
	text, err := smallfile.ReadSecret(k.path, BytesMax)
	if err != nil {
		return nil, plainPathError(err)
	}
	table, err := Parse(text)
	if err != nil {
		return nil, err
	}
	for _, check := range k.checks {
		if err := check(table); err != nil {
			return nil, err
		}
	}
	table.readAt = time.Now()
	return table, nil
}

// plainPathError returns the cause without the path, which the caller has named.
func plainPathError(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
