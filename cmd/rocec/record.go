package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/deploy/checkout"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/spf13/cobra"
)

// workspace is the folder of the record that this run works in.
func (a *app) workspace() string {
	if w := a.env["ROCEC_WORKSPACE"]; w != "" {
		return w
	}
	if a.env[labVariable] != "" {
		return "lab"
	}
	return "default"
}

// store is the record of the workspace: where the rocec block says, else the
// folder `record` beside the configuration.
func (a *app) store(p *project) (*record.Store, error) {
	s := record.Settings{Env: func(name string) string { return a.env[name] }, Spool: filepath.Join(a.dataDir(), "record")}
	if p == nil {
		store, err := record.OpenAt(s, a.workspace())
		return a.ownStore(store, s.Spool, err)
	}
	if wrong := compiler.RecordFaults(p.cfg); wrong.HasErrors() {
		a.print(p, wrong)
		return nil, exit(1)
	}
	p.recordSettings(&s)
	if a.env[labVariable] != "" && s.Kind != "" { // simulated devices are nobody else's business
		s = record.Settings{Source: s.Source}
	}
	wrong, err := a.recordTrust(p, &s)
	if err != nil {
		return nil, err
	}
	var remote *checkout.RemoteError
	store := (*record.Store)(nil)
	if !wrong.HasErrors() {
		if store, err = record.OpenAt(s, a.workspace()); errors.As(err, &remote) {
			wrong.Add(p.ofRecord(remote.Error(), "name a remote that git has (git remote add NAME ADDRESS), or an address of https or ssh"))
		}
	}
	if wrong.HasErrors() {
		a.print(p, wrong)
		return nil, exit(1)
	}
	return a.ownStore(store, s.Spool, err)
}

// ownStore refuses a record that lies outside of where it was named, and working data that git tracks.
func (a *app) ownStore(store *record.Store, spool string, err error) (*record.Store, error) {
	if err != nil {
		return nil, err
	}
	if dir := store.Dir(); dir != "" {
		if err := within(dir); err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
	}
	for _, dir := range []string{spool, a.journals(store), a.cacheDir()} {
		if err := ownData(dir); dir != "" && err != nil {
			return nil, err
		}
	}
	return store, nil
}

// recordSettings are what the source says of the record.
func (p *project) recordSettings(s *record.Settings) {
	v, _ := compiler.Recorded(p.cfg)
	text := func(n schema.Attr) string { return p.cfg.Text(p.cfg.Field(v, n)) }
	flag := func(n schema.Attr) bool { return p.cfg.Field(v, n).N == 1 }
	s.Kind, s.Source, s.Remote, s.Branch, s.Push = text(schema.ABackend), text(schema.ASource), text(schema.ARemote), text(schema.ABranch), flag(schema.APush)
	s.Address, s.UpdateMethod, s.LockAddress, s.LockMethod = text(schema.AAddress), text(schema.AUpdateMethod), text(schema.ALockAddress), text(schema.ALockMethod)
	s.UnlockAddress, s.UnlockMethod, s.UsernameEnv, s.PasswordEnv = text(schema.AUnlockAddress), text(schema.AUnlockMethod), text(schema.AUsernameEnv), text(schema.APasswordEnv)
	s.Bucket, s.Region, s.Endpoint, s.Prefix, s.PathStyle = text(schema.ABucket), text(schema.ARegion), text(schema.AEndpoint), text(schema.APrefix), flag(schema.APathStyle)
}

// locked runs f while this run holds the record.
func (a *app) locked(ctx context.Context, s *record.Store, operation string, timeout time.Duration, f func(*record.Lock) error) (err error) {
	if a.trust.untrusted {
		return errUntrusted
	}
	lock, err := s.Lock(ctx, operation, version(), timeout)
	var held *record.LockedError
	if errors.As(err, &held) {
		hint := ""
		if id := held.Holder.ID; id != "" {
			if strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }) {
				id = strconv.Quote(id) // of a stranger
			}
			hint = fmt.Sprintf(" (if nobody is at work there: rocec force-unlock %s)", id)
		}
		return fmt.Errorf("%w%s. Rule: %s %s", err, hint, recordLock.ID, recordLock.Name)
	}
	if err != nil {
		return err
	}
	set := func(l *record.Lock) error {
		return a.write(func() error {
			a.lock = l
			return nil
		})
	}
	_ = set(lock)
	defer func() {
		_ = set(nil)
		err = errors.Join(err, lock.Unlock())
	}()
	return f(lock)
}

// lockedLive is locked for what goes by journals too.
func (a *app) lockedLive(ctx context.Context, s *record.Store, operation string, timeout time.Duration, f func(*record.Lock) error) error {
	return a.locked(ctx, s, operation, timeout, func(lock *record.Lock) error {
		return a.claimed(s, func() error { return f(lock) })
	})
}

// recordLock is the rule behind the lock, decided where the record is written.
// That the record has moved since a plan was saved is the plan's to say: Saved
// plan is stale.
var recordLock = diag.Rule{
	ID: "ROCE912", Name: "plan_record_lock", Severity: diag.Error,
	Title:  "two applies write the record at a time",
	Why:    "two that write at once each plan against devices that the other is changing, and the record ends up with neither",
	Fix:    "wait with --lock-timeout, or break a lock that nobody holds any more with rocec force-unlock",
	Source: "docs/commands.md and docs/record.md",
	Bad:    lockedBy("rocec apply --auto-approve\n"),
	Good:   lockedBy("rocec force-unlock abc123\nrocec apply --auto-approve\n"),
}

func (a *app) recordCommand() *cobra.Command {
	c := &cobra.Command{Use: "record", Short: "Look at the record of what was handed over and applied"}
	var in inputs
	list := &cobra.Command{
		Use: "list", Short: "List the devices of the record", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.listRecord(&in) },
	}
	show := &cobra.Command{
		Use: "show DEVICE", Short: "Print what the record holds of a device, given by its name or address", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.showEntry(&in, args[0]) },
	}
	var out string
	export := &cobra.Command{
		Use: "export", Short: "Write the record of the workspace as one JSON object", Args: cobra.NoArgs,
		Long: `export writes every entry of the workspace's record into one JSON object, in the order
of the devices' names: the same record gives the same bytes. It is for audits, for
policy engines and for keeping; rocec show FILE prints it.`,
		Example: "  rocec record export --out=record.json",
		RunE: func(*cobra.Command, []string) error {
			s, err := a.openRecord(&in)
			if err != nil {
				return err
			}
			return a.exportRecord(s, out)
		},
	}
	export.Flags().StringVar(&out, "out", "", "write to `FILE` instead of standard output")
	for _, sub := range []*cobra.Command{list, show, export} {
		in.flags(sub)
		c.AddCommand(sub)
	}
	return c
}

// listRecord prints one line for each device of the record.
func (a *app) listRecord(in *inputs) error {
	s, err := a.openRecord(in)
	if err != nil {
		return err
	}
	entries, err := s.All()
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	return a.object(append([]*record.Entry{}, entries...), func() error { return a.recordText(entries) })
}

// showEntry prints the entry of one device, by its name or as list prints it.
func (a *app) showEntry(in *inputs, device string) error {
	s, err := a.openRecord(in)
	if err != nil {
		return err
	}
	e, _, err := s.Get(device)
	if err == nil && e == nil {
		var all []*record.Entry
		all, err = s.All()
		if i := slices.IndexFunc(all, func(e *record.Entry) bool { return e.Address == device }); i >= 0 {
			e = all[i]
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("read record: %w", err)
	case e == nil:
		return fmt.Errorf("the record has no device %s", diag.Printable(device))
	}
	text, err := record.Encode(e)
	if err != nil {
		return err
	}
	_, err = a.out.Write(text)
	return err
}

func (a *app) recordText(entries []*record.Entry) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", diag.Printable(e.Address), diag.Printable(e.Emitter), e.Status, e.IntentDigest)
	}
	return w.Flush()
}

// exportRecord writes the record of the workspace whole: into a file, else to
// where JSON goes, else to standard output.
func (a *app) exportRecord(s *record.Store, out string) error {
	var b bytes.Buffer
	if err := s.Export(&b); err != nil {
		return err
	}
	if out == "" {
		out = a.jsonTo
	}
	if out == "" || a.json {
		if _, err := a.out.Write(b.Bytes()); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	if err := a.write(func() error { return replaceFile(out, b.Bytes(), 0o644) }); err != nil {
		return fmt.Errorf("write %s: %w", out, err)
	}
	return nil
}

// openRecord finds the record of the configuration. Its fabric need not be
// sound, but it must load: it may say where the record is.
func (a *app) openRecord(in *inputs) (*record.Store, error) {
	p, err := a.load(in, false)
	if err != nil {
		return nil, err
	}
	if p.res == nil {
		a.print(p, atLeast(p.diags, diag.Error))
		return nil, exit(1)
	}
	return a.store(p)
}

func (a *app) unlockCommand() *cobra.Command {
	var in inputs
	c := &cobra.Command{
		Use: "force-unlock ID", Short: "Break the lock of the record that has this ID",
		Long: `force-unlock breaks the lock of a rocec that died, or whose machine is gone, so that others
get at the record again. The message of whoever could not get the lock says who took it,
where, when and for what, and its ID. Make sure first that nobody is at work there: two
that change the same devices at once each plan against what the other is changing. What a
dead apply has left on devices the next apply finishes, on the machine that has its
journal.`,
		Example: "  rocec force-unlock 3f2a9c",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("force-unlock takes the ID of the lock, which the message of whoever could not get it says")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := a.openRecord(&in)
			if err != nil {
				return err
			}
			if err := s.ForceUnlock(args[0]); err != nil {
				return fmt.Errorf("unlock record: %w", err)
			}
			fmt.Fprintln(a.out, "The record is unlocked.")
			return nil
		},
	}
	in.flags(c)
	return c
}
