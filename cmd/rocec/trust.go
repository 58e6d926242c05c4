package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rocec/rocec/compiler"
	"github.com/rocec/rocec/compiler/fabric"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/rocec/rocec/deploy/record"
	"github.com/rocec/rocec/lang/diag"
	"github.com/rocec/rocec/lang/schema"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Variables by which somebody outside of the checkout says what its source may name, and whether it is trusted at all.
const (
	allowEnv      = "ROCEC_ALLOW_ENV"
	allowCommands = "ROCEC_ALLOW_COMMANDS"
	untrustedEnv  = "ROCEC_UNTRUSTED"
	baseEnv       = "ROCEC_BASE"
)

// ownVariables begins the names of variables that are there for source to name.
const ownVariables = "ROCEC_"

// trust is what source may do here.
type trust struct {
	untrusted     bool   // nobody has looked at it: --untrusted
	base          string // revision that somebody has looked at, "" for none
	env, commands []string
}

// trustOf is what the environment says; flags of the line win.
func trustOf(env map[string]string) trust {
	t := trust{base: env[baseEnv], env: commas(env[allowEnv]), commands: commas(env[allowCommands])}
	if set := env[untrustedEnv]; set != "" {
		no, err := strconv.ParseBool(set)
		t.untrusted = err != nil || no // what is no word for no is one for yes
	}
	return t
}

// flags are those of every command.
func (t *trust) flags(f *pflag.FlagSet) {
	f.BoolVar(&t.untrusted, "untrusted", t.untrusted, "nobody has looked at the source: run no program, read no secret, ask no device")
	f.StringVar(&t.base, "base", t.base, "with --untrusted: the git `REV` whose record may be opened")
}

func commas(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// reaching are commands that change what is outside of the checkout, or start what does.
var reaching = []string{"apply", "confirm", "rollback", "force-unlock", "lab"}

// refuses is an error for a command that source nobody has looked at may not steer.
func (t *trust) refuses(c *cobra.Command) error {
	for ; t.untrusted && c.HasParent(); c = c.Parent() {
		if !c.Parent().HasParent() && slices.Contains(reaching, c.Name()) {
			return fmt.Errorf("%s does not go with --untrusted (%s): it reaches outside of the checkout", c.Name(), untrustedEnv)
		}
	}
	return nil
}

// variable reports whether source may name a variable of the environment.
func (t *trust) variable(name string) bool {
	return strings.HasPrefix(name, ownVariables) || slices.Contains(t.env, name)
}

// permitted says what is not allowed of a connection and of those on its way: once for each line of source.
func (p *project) permitted(way *fabric.Connection) (found diag.List) {
	f := p.res.Fabric
	for _, c := range append([]fabric.Connection{*way}, way.Jump...) {
		add := func(n schema.Attr, summary, help string) {
			found.Add(diag.Diagnostic{Summary: summary, Help: help, Address: c.Name, Labels: []diag.Label{f.Label(c.Decl, 0, n, "")}})
		}
		for _, v := range []secretName{{schema.APasswordEnv, c.PasswordEnv}, {schema.AEnableEnv, c.EnableEnv}} {
			if v.name != "" && !p.trust.variable(v.name) {
				add(v.by, fmt.Sprintf("%s of %s names the variable %s, which source may not read", v.by.Name(), c.Name, v.name), allowVariable(v.name))
			}
		}
		if len(c.PasswordCommand) > 0 && !slices.Contains(p.trust.commands, c.PasswordCommand[0]) {
			program := c.PasswordCommand[0]
			add(schema.APasswordCommand, fmt.Sprintf("%s would run the program %s, which source may not run", c.Name, strconv.Quote(program)),
				fmt.Sprintf("whoever runs rocec allows it in the environment: %s=%s", allowCommands, program))
		}
	}
	return found
}

// secretName is a variable of the environment that an attribute names.
type secretName struct {
	by   schema.Attr
	name string
}

func allowVariable(name string) string {
	return fmt.Sprintf("name a variable that begins with %s, or allow this one in the environment of rocec: %s=%s", ownVariables, allowEnv, name)
}

// unsaid leaves out what was said of the same line before.
func unsaid(list diag.List, before map[string]bool) diag.List {
	return slices.DeleteFunc(list, func(d diag.Diagnostic) bool {
		key := d.Address + "\x00" + d.Summary
		was := before[key]
		before[key] = true
		return was
	})
}

// ofRecord is a finding at the record that source names, or at the configuration where it names none.
func (p *project) ofRecord(summary, help string) diag.Diagnostic {
	d := diag.Diagnostic{Summary: summary, Help: help}
	if _, at := compiler.Recorded(p.cfg); !at.Span.IsZero() {
		d.Labels = []diag.Label{at}
	}
	return d
}

// recordTrust says what is not allowed of the record that source names.
func (a *app) recordTrust(p *project, s *record.Settings) (found diag.List, err error) {
	if s.Kind == "" || s.Kind == record.Local || s.Kind == record.Git {
		folder := s.Source
		if folder == "" {
			folder = "record"
		}
		here, err := disk.CheckoutOf(".")
		if err != nil {
			return nil, err
		}
		if s.Kind == record.Git {
			s.Within = here.Top()
		}
		if at := filepath.FromSlash(folder); !here.Holds(at) || here.Check(at) != nil {
			found.Add(p.ofRecord(fmt.Sprintf("the folder of the record, %s, leads out of the checkout", strconv.Quote(folder)),
				`keep it inside, or elsewhere by a backend: git with push = true, http, s3`))
		}
	}
	for _, v := range []secretName{{schema.AUsernameEnv, s.UsernameEnv}, {schema.APasswordEnv, s.PasswordEnv}} {
		if v.name != "" && !p.trust.variable(v.name) {
			found.Add(p.ofRecord(fmt.Sprintf("%s of the record names the variable %s, which source may not read", v.by.Name(), v.name), allowVariable(v.name)))
		}
	}
	if !p.trust.untrusted || found.HasErrors() {
		return found, nil
	}
	s.Spool = ""
	const instead = "compare with the revision that is trusted instead: rocec plan --against=REV"
	switch remote := s.Push || s.Remote != "" || s.Kind == record.HTTP || s.Kind == record.S3; {
	case s.UsernameEnv != "" || s.PasswordEnv != "" || s.Kind == record.S3:
		found.Add(p.ofRecord("the record is kept behind credentials, and --untrusted reads none", instead))
	case remote && p.trust.base == "":
		found.Add(p.ofRecord("the record is kept elsewhere, and --untrusted opens it only where a trusted revision has it there too",
			"name that revision: --base=REV, or "+baseEnv))
	case remote:
		same, err := a.sameRecord(p, s)
		if err != nil {
			return nil, fmt.Errorf("base: %w", err)
		}
		if !same {
			found.Add(p.ofRecord(fmt.Sprintf("the record is not the one that %s has, and --untrusted opens no other", p.trust.base), instead))
		}
	}
	return found, nil
}

// sameRecord reports whether the record of the trusted revision is the same one.
func (a *app) sameRecord(p *project, s *record.Settings) (bool, error) {
	dir, err := a.revision(context.Background(), p.dir, p.trust.base)
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	old, err := a.loadFrom(dir, p.in, false)
	if err != nil {
		return false, err
	}
	then, now := record.Settings{}, *s
	old.recordSettings(&then)
	then.Within, now.Env = now.Within, nil
	return reflect.DeepEqual(then, now), nil
}

// errUntrusted says that nothing is written for source that nobody has looked at.
var errUntrusted = errors.New("--untrusted writes no record")

// tellUntrusted says what a plan of source that nobody has looked at leaves out.
func (a *app) tellUntrusted(p *project, devices []served, against bool) {
	if !p.trust.untrusted || a.quiet || against {
		return
	}
	live := 0
	for i := range devices {
		if p.delivery(devices[i].id) == fabric.SSH {
			live++
		}
	}
	fmt.Fprintf(a.err, "Left out, for the source is not trusted (--untrusted): reading %s; the record speaks for all. No program was run and no secret read.\n",
		count(live, "device"))
}
