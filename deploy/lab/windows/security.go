package windows

import (
	"cmp"
	"strings"
	"time"

	"github.com/rocec/rocec/deploy/lab/powershell"
)

// Well-known identities.
const (
	sidSystem         = "S-1-5-18"
	sidAdministrators = "S-1-5-32-544"
	sidUser           = "S-1-5-21-1-2-3-500"
)

// value is an object of .NET that has some members.
type value map[string]func(args []any) any

// Member is of powershell.Members.
func (v value) Member(name string, args []any) (any, bool) {
	f, ok := v[name]
	if !ok {
		return nil, false
	}
	return f(args), true
}

func constant(x any) func([]any) any { return func([]any) any { return x } }

// SetAdministrator says whether the login is one of an administrator, as it is at first.
func (m *Machine) SetAdministrator(is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.user = !is
}

// SetOwner gives a folder to a SID. Folders belong to the administrators.
func (m *Machine) SetOwner(folder, sid string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.owners[strings.ToLower(folder)] = sid
}

// SetAccess puts a security descriptor on a folder.
func (m *Machine) SetAccess(folder, sddl string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.access[strings.ToLower(folder)] = sddl
}

// Access is the security descriptor that was set on a folder.
func (m *Machine) Access(folder string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.access[strings.ToLower(folder)]
}

// owner is the SID that a folder belongs to.
func (m *Machine) owner(folder string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cmp.Or(m.owners[folder], sidAdministrators)
}

func (m *Machine) administrator() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.user
}

// statics are the parts of .NET that tell of the machine.
func (p *process) statics() map[string]func(*powershell.Runner, []any) any {
	m := p.m
	sid := sidUser
	if p.system {
		sid = sidSystem
	}
	type static = func(*powershell.Runner, []any) any
	first := func(args []any) string {
		if len(args) == 0 {
			powershell.Throw("Cannot find an overload for the argument count: \"0\".")
		}
		return strings.ToLower(p.r.Path(powershell.String(args[0])))
	}
	return map[string]static{
		"environment::tickcount": func(*powershell.Runner, []any) any { return m.ticks() },
		"datetime::new": func(_ *powershell.Runner, args []any) any {
			if len(args) != 3 {
				powershell.Throw("DateTime is made of a year, a month and a day")
			}
			return powershell.Time(time.Date(int(powershell.Int(args[0])), time.Month(powershell.Int(args[1])), int(powershell.Int(args[2])), 0, 0, 0, 0, time.UTC))
		},
		"security.principal.windowsidentity::getcurrent": func(*powershell.Runner, []any) any {
			return value{"user": constant(value{"value": constant(sid)})}
		},
		"security.principal.windowsprincipal::new": func(*powershell.Runner, []any) any {
			return value{"isinrole": constant(p.system || m.administrator())}
		},
		"security.principal.windowsbuiltinrole::administrator": func(*powershell.Runner, []any) any { return "Administrator" },
		"security.accesscontrol.directorysecurity::new": func(*powershell.Runner, []any) any {
			return &descriptor{}
		},
		"io.directory::getaccesscontrol": func(r *powershell.Runner, args []any) any {
			path := first(args)
			if _, there := r.Files.Stat(path); !there {
				powershell.Throw("Could not find a part of the path '%s'.", path)
			}
			return value{"getowner": constant(value{"value": constant(m.owner(path))})}
		},
		"io.directory::setaccesscontrol": func(_ *powershell.Runner, args []any) any {
			path := first(args)
			d, ok := args[len(args)-1].(*descriptor) // first wants one at least
			if !ok {
				powershell.Throw("Cannot convert argument \"directorySecurity\".")
			}
			m.SetAccess(path, d.sddl)
			return powershell.Void{}
		},
	}
}

// descriptor is a DirectorySecurity.
type descriptor struct{ sddl string }

// Member is of powershell.Members.
func (d *descriptor) Member(name string, args []any) (any, bool) {
	if name != "setsecuritydescriptorsddlform" || len(args) != 2 {
		return nil, false
	}
	d.sddl = powershell.String(args[0])
	return powershell.Void{}, true
}
