package sonic

import (
	"github.com/rocec/rocec/deploy/lab/posix"
)

const cfggen = "/usr/local/bin/sonic-cfggen"

// refused is what the lab says where SONiC itself checks nothing: a simulated switch takes only what the models accept, on any way.
func (m *Machine) refused(p *posix.Proc, err error) int {
	return p.Fail("rocec lab: SONiC's YANG models do not accept the result, so that nothing changes: %v", err)
}

func (m *Machine) save(p *posix.Proc, file string, yes bool) int {
	if !yes {
		return aborted(p, "Existing files will be overwritten, continue?")
	}
	target := saved
	if file != "" {
		target = p.Path(file)
	}
	p.Printf("Running command: %s -d --print-data > %s\n", cfggen, target)
	db := m.snapshot()
	if err := m.accepted(db); err != nil {
		return m.refused(p, err)
	}
	scratch := target + ".lab"
	if err := m.disk.WriteFile(scratch, db.print(), 0o644); err != nil {
		_ = m.disk.Remove(scratch)
		return p.Fail("OSError: [Errno 28] No space left on device")
	}
	_ = m.disk.Rename(scratch, target)
	return 0
}

// aborted is what click says where nobody can answer its question.
func aborted(p *posix.Proc, question string) int {
	p.Printf("%s [y/N]: \n", question)
	return p.Fail("Aborted!")
}

// loadFile is config load: it merges a file.
func (m *Machine) loadFile(p *posix.Proc, file string, yes bool) int {
	question := "Load config from the file(s) " + file + " ?"
	if file == "" {
		file, question = saved, "Load config from the default config file(s) ?"
	}
	if !yes {
		return aborted(p, question)
	}
	b, err := m.disk.ReadFile(p.Path(file))
	if err != nil {
		p.Printf("The config_db file %s doesn't exist\n", file)
		return 0 // as config load does
	}
	p.Printf("Running command: %s -j %s --write-to-db\n", cfggen, file)
	more, err := read(b)
	if err != nil {
		return p.Fail("json.decoder.JSONDecodeError: %s: %v", file, err)
	}
	if err := m.load(more); err != nil {
		return m.refused(p, err)
	}
	return 0
}

// load merges.
func (m *Machine) load(more database) error {
	m.one.Lock()
	defer m.one.Unlock()
	db := m.snapshot()
	db.merge(more)
	if err := m.accepted(db); err != nil {
		return err
	}
	m.put(db)
	return nil
}

// reload is config reload: the services stop and start with a file alone. A file that is named is always held against the models, the
// saved one unless -f says otherwise.
func (m *Machine) reload(p *posix.Proc, file string, yes, force bool) int {
	named, question := file != "", "Clear current config and reload config in config_db format from the default config file(s) ?"
	if named {
		question = "Clear current config and reload config in config_db from the file(s) " + file + " ?"
	} else {
		file = saved
	}
	if !yes {
		return aborted(p, question)
	}
	b, err := m.open(p.Path(file), file)
	switch {
	case err != nil && named:
		return p.Fail("Exception: %v", err)
	case err != nil && force:
		p.Printf("Stopping SONiC target ...\nThe config_db file %s doesn't exist\nRestarting SONiC target ...\n", file)
		return 0
	case err != nil:
		p.Printf("The config file %s doesn't exist\n", file)
		return p.Fail("Aborted!")
	}
	next, err := read(b)
	if err != nil {
		if named || force {
			return p.Fail("Exception: %v", err)
		}
		p.Printf("Failed to read config file %s: %v\n", file, err)
		return p.Fail("Aborted!")
	}
	m.one.Lock()
	defer m.one.Unlock()
	if err := m.accepted(next); err != nil {
		if !named && force {
			return m.refused(p, err)
		}
		p.Printf("%s fails YANG validation! Error: %v\n", file, err)
		return p.Fail("Aborted!")
	}
	p.Printf("Stopping SONiC target ...\nRunning command: %s -j %s --write-to-db\nRestarting SONiC target ...\n", cfggen, file)
	m.start(next)
	return 0
}
