package record

import (
	"context"
	"fmt"
)

// Backend keeps the entries of one workspace as bytes, and the lock that whoever
// writes holds. It has one user at a time, and every method may fail as networks
// do. No error holds a secret.
type Backend interface {
	// Where names the place for messages.
	Where() string
	// List is the devices that have an entry, in any order.
	List(ctx context.Context) ([]string, error)
	// Get reads an entry, nil if there is none.
	Get(ctx context.Context, device string) ([]byte, error)
	// Put replaces the entry of this version (Digest; "" for none), nil deletes it.
	// A *ConflictError says that it moved, a *LostError that the lock with this ID is
	// not held any more. The entry may wait for Sync.
	Put(ctx context.Context, lockID, device string, b []byte, version string) error
	// Sync makes last what was put.
	Sync(ctx context.Context, lockID string) error
	// Lock tries once. A *LockedError says that somebody has it.
	Lock(ctx context.Context, h Holder) error
	// Unlock gives the lock back. A *LostError says that it was no longer held.
	Unlock(ctx context.Context, lockID string) error
	// Break takes the lock from whoever has it, if its ID is this one.
	Break(ctx context.Context, lockID string) error
	// Holder is who has the lock, nil if nobody has it or the place does not tell.
	Holder(ctx context.Context) (*Holder, error)
}

// Kinds of backends.
const (
	Local = "local" // a folder
	Git   = "git"   // a branch of a repository
	HTTP  = "http"  // a server that keeps states as Terraform's do
	S3    = "s3"    // an object store
)

// Settings say where a record is. Secrets are named by the variables that hold
// them.
type Settings struct {
	Kind   string // one of the kinds of backends; "" is Local
	Source string // of Local and Git: the folder; "" is "record"

	// Of Git.
	Within string // the work tree that the folder has to be in; "" for any
	Remote string // name or address; "" for none
	Branch string // "" is the one that is checked out
	Push   bool

	// Of HTTP. {workspace} in an address stands for the workspace.
	Address, UpdateMethod                                string
	LockAddress, LockMethod, UnlockAddress, UnlockMethod string
	UsernameEnv, PasswordEnv                             string

	// Of S3.
	Bucket, Region, Endpoint, Prefix string
	PathStyle                        bool

	Env func(name string) string // variables of the environment
	// Spool is a folder where changes lie until they are sent, by backends that gather
	// them; "" for none.
	Spool string
}

// OpenAt names the record of a workspace. Nothing is read or made yet.
func OpenAt(s Settings, workspace string) (*Store, error) {
	if s.Source == "" {
		s.Source = "record"
	}
	if s.Env == nil {
		s.Env = func(string) string { return "" }
	}
	store, err := Open(s.Source, workspace)
	if err != nil {
		return nil, err
	}
	switch s.Kind {
	case "", Local:
		return store, nil
	case Git:
		return openGit(s, store)
	case HTTP:
		store.backend, err = newHTTP(s, workspace)
	case S3:
		store.backend, err = newS3(s, workspace)
	default:
		err = fmt.Errorf("there is no backend %q", s.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	store.folder, store.retryEvery = nil, retryRemote
	if s.Kind == HTTP && s.Spool != "" {
		store.backend = newSpool(store.backend, s.Spool, workspace)
	}
	return store, nil
}
