package oracle

import (
	"os"
	"path/filepath"
	"testing"
)

// Yang fails t unless the SONiC YANG models accept configDB, the text of a config_db.json: every table and field is known, every
// value has its type, range and pattern, every reference leads to a row, every must and when holds.
func Yang(t testing.TB, configDB []byte) {
	t.Helper()
	Need(t, "yanglint")
	if err := yang(Dir(t), t.TempDir(), configDB); err != nil {
		t.Errorf("config_db.json is not what the SONiC models accept: %v", err)
	}
}

// yang transforms and validates one config_db.json; scratch takes the transformed file.
func yang(oracles, scratch string, configDB []byte) error {
	dir := filepath.Join(oracles, "sonic-yang")
	ms, err := loadModels(dir)
	if err != nil {
		return err
	}
	data, err := ms.yangJSON(configDB)
	if err != nil {
		return err
	}
	file := filepath.Join(scratch, "config.yang.json")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		return err
	}
	// The glob cannot fail: its pattern is the one loadModels has just used.
	schemas, _ := filepath.Glob(filepath.Join(dir, "*.yang"))
	args := append([]string{"-Q", "-ii", "-p", dir, "-t", "config"}, schemas...)
	_, err = run(scratch, nil, "yanglint", append(args, file)...)
	return err
}
