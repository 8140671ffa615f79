package worker

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user as whom a command runs.
type account struct {
	name, home string
	credential *syscall.Credential // nil: the user of the worker
}

// ownUser returns the name of the user of this process; its number if it has no name.
func ownUser() string {
	if u, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}

// accountOf returns the account of a user. Only root can take another user's.
func accountOf(name string) (account, error) {
	if name == "" || name == ownUser() {
		home := "/"
		if u, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil {
			home = u.HomeDir
		}
		return account{name: ownUser(), home: home}, nil
	}
	if os.Geteuid() != 0 {
		return account{}, fmt.Errorf("the command is to run as %s, and this worker runs as %s; only a worker of root can change the user", name, ownUser())
	}
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, fmt.Errorf("the command is to run as %s: %w", name, err)
	}
	credential, err := credentialOf(u)
	if err != nil {
		return account{}, fmt.Errorf("the groups of %s: %w", name, err)
	}
	return account{name: u.Username, home: u.HomeDir, credential: credential}, nil
}

// credentialOf returns the user, the group and the further groups of a user, all of them: a command must not keep those of
// the worker.
func credentialOf(u *user.User) (*syscall.Credential, error) {
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	credential := &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	for _, id := range ids {
		group, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, err
		}
		credential.Groups = append(credential.Groups, uint32(group))
	}
	return credential, nil
}
