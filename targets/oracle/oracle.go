// Package oracle is test support: it holds emitted text against programs and data that nobody here wrote (yanglint with the SONiC
// models, a PowerShell grammar and the documented cmdlets, netplan, systemd-analyze, shellcheck, a real Linux kernel in qemu).
//
// Every function takes the test and what was emitted, and fails the test with the checker's own message. A checker that is not
// installed skips the test, or fails it where ROCEC_CHECKS=required is set, as the gate does; that decision is taken in Need and
// nowhere else. Texts that others wrote are no part of the repository: they are read from the folder that ROCEC_ORACLES names, by
// default ../shared/oracles beside the checkout, and are missed in the same way. What the checkers cannot see (testdata/oracles/README.md
// lists it) is left to the rules and the goldens.
//
// This is no part of the compiler: it runs programs and writes scratch files, and only tests import it.
package oracle

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Names Need accepts besides those of programs: what RunGuest, RunNamespaces, PSCheck and GitLab need as a whole, the rights of root, and a library.
const (
	Guest       = "guest"
	Namespaces  = "namespaces"
	PSCheckTool = "pscheck"
	GitLabTool  = "gitlab-ci-local"
	Root        = "root"
	SoftRoCE    = "soft-RoCE" // what libibverbs needs for it

	SONiCModels  = "sonic-yang"     // SONiC's YANG models among the oracles of others, and yanglint
	SONiCConfigs = "sonic-configdb" // configurations of SONiC switches among them
)

// othersEnv names the folder of the texts that others wrote.
const othersEnv = "ROCEC_ORACLES"

// checksEnv makes a missing checker a failure: a gate in which a check was skipped has not checked.
const checksEnv = "ROCEC_CHECKS"

// Need skips t when tool, a program's name or one of the names above, cannot be used here, and says how to install it. With
// ROCEC_CHECKS=required it fails t instead. The guest and the namespaces alone are also skipped under -short, whatever the environment
// says: whole hosts take longer than everything else together, and the gate's second run repeats the tests for their order, not for them.
func Need(t testing.TB, tool string) {
	t.Helper()
	if (tool == Guest || tool == Namespaces) && testing.Short() {
		t.Skip("whole hosts are not started under -short")
	}
	err := lack(t, tool)
	if err == nil {
		return
	}
	if os.Getenv(checksEnv) == "required" {
		t.Fatalf("%s=required, and %v", checksEnv, err)
	}
	t.Skip(err)
}

// lack returns what stands in the way of using tool, with the way to get it; nil when it can be used.
func lack(t testing.TB, tool string) error {
	switch tool {
	case Guest:
		return guestLack(t)
	case Namespaces:
		return namespacesLack(t)
	case Root:
		if os.Geteuid() != 0 {
			return errors.New("only root can do this: run the tests as root")
		}
		return nil
	case SoftRoCE:
		if _, err := os.Stat("/etc/libibverbs.d/rxe.driver"); err != nil {
			return errors.New("libibverbs has no driver for soft-RoCE: apt-get install --no-install-recommends ibverbs-providers")
		}
		return nil
	case SONiCModels:
		if err := othersLack(SONiCModels, "*.yang", sonicModelsFrom); err != nil {
			return err
		}
		return lack(t, "yanglint")
	case SONiCConfigs:
		return othersLack(SONiCConfigs, "*.json", sonicConfigsFrom)
	case PSCheckTool:
		return npmLack(t, pscheckPackages())
	case GitLabTool:
		return npmLack(t, gitlabPackages(), "git", "rsync")
	}
	if _, err := exec.LookPath(tool); err == nil {
		return nil
	}
	// netplan and the kernel tools live where an ordinary user's PATH does not look.
	if _, err := exec.LookPath(filepath.Join("/usr/sbin", tool)); err == nil {
		return nil
	}
	return fmt.Errorf("%s is not installed: apt-get install --no-install-recommends %s", tool, debianPackage(tool))
}

// npmLack is lack for a checker of the npm registry and the programs it calls.
func npmLack(t testing.TB, packages npmPackages, programs ...string) error {
	for _, program := range append(programs, "node", "npm") {
		if err := lack(t, program); err != nil {
			return err
		}
	}
	_, err := packages.folder()
	return err
}

// debianPackage names the Debian 12 package that has the program.
func debianPackage(program string) string {
	switch program {
	case "yanglint":
		return "libyang2-tools"
	case "netplan":
		return "netplan.io"
	case "systemd-analyze":
		return "systemd"
	case "dot":
		return "graphviz"
	case "node":
		return "nodejs"
	case "dcb", "ip", "rdma":
		return "iproute2"
	case "systemd-escape":
		return "systemd"
	case "python3":
		return "python3-minimal"
	case "sshd":
		return "openssh-server"
	case "ssh-keygen":
		return "openssh-client"
	case "dbus-daemon":
		return "dbus"
	case "udevadm":
		return "udev"
	case "sysctl":
		return "procps"
	case "ping":
		return "iputils-ping"
	case "unshare":
		return "util-linux"
	case "rping":
		return "rdmacm-utils"
	case "ib_write_bw":
		return "perftest"
	}
	return program
}

// Dir returns the folder of the repository that holds the oracles' data, testdata/oracles.
func Dir(t testing.TB) string {
	t.Helper()
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "testdata", "oracles")
}

// Where the oracles of others come from.
const (
	sonicBuildimage  = "github.com/sonic-net/sonic-buildimage at 086b03bd70f9e211aaaf5f6aefe0790b508d2a94"
	sonicModelsFrom  = "from src/sonic-yang-models of " + sonicBuildimage
	sonicConfigsFrom = "some of them from src/sonic-config-engine/tests/sample_output/py3 of " + sonicBuildimage
)

// Others are the files of a name that Need takes, among the oracles of others.
func Others(t testing.TB, name, pattern string) []string {
	t.Helper()
	Need(t, name)
	dir, err := others(name)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// others is a folder among the oracles that others wrote.
func others(name string) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	dir := os.Getenv(othersEnv)
	switch {
	case dir == "":
		dir = filepath.Join(root, "..", "shared", "oracles")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(root, dir)
	}
	return filepath.Join(dir, name), nil
}

// Cases are the folders of fabrics that rocec got wrong once, which stand beside the oracles of others; none where those are not laid out.
func Cases(t testing.TB) []string {
	t.Helper()
	dir, err := others(filepath.Join("..", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.roce.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, name := range files {
		if d := filepath.Dir(name); len(list) == 0 || list[len(list)-1] != d {
			list = append(list, d)
		}
	}
	return list
}

// othersLack is lack for a folder among the oracles that others wrote, which has to hold files of a pattern.
func othersLack(name, pattern, from string) error {
	dir, err := others(name)
	if err != nil {
		return err
	}
	if files, err := filepath.Glob(filepath.Join(dir, pattern)); len(files) > 0 || err != nil {
		return err
	}
	return fmt.Errorf("nothing is held against %s: %s has no %s; .ci/oracles lays them there, %s, and %s names another folder for all of %s",
		name, dir, pattern, from, othersEnv, filepath.Dir(dir))
}

// Rows are the rows of a table among the data that nobody here made up, a CSV
// file, without its header.
func Rows(t testing.TB, path ...string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(append([]string{Dir(t)}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", f.Name(), len(rows), err)
	}
	return rows[1:]
}

// repository finds the module's root from the folder of the package under test, which is where go test runs a test.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.Contains(mod, []byte("module github.com/rocec/rocec\n")) {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("the oracles' data is found from inside the repository only: no go.mod of rocec above the working directory")
		}
		dir = up
	}
}

// cacheDir returns the folder for what is fetched or built once: $env where set, else rocec-oracles/name in the user's cache.
func cacheDir(env, name string) (string, error) {
	if dir := os.Getenv(env); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no place for %s: %w; %s names one", name, err, env)
	}
	return filepath.Join(cache, "rocec-oracles", name), nil
}

// checkSeconds bounds one run of an ordinary checker, so that a hang names the checker and not the test binary.
const checkSeconds = 120

// run runs one program in dir and returns what it printed to both outputs. The error of a program that failed carries that text.
func run(dir string, env []string, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), checkSeconds*time.Second)
	defer cancel()
	if path, err := exec.LookPath(program); err == nil {
		program = path
	} else {
		program = filepath.Join("/usr/sbin", program)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append([]string{"LC_ALL=C"}, env...)...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if text == "" {
		text = "no message"
	}
	switch name := filepath.Base(program); {
	case ctx.Err() != nil:
		return string(out), fmt.Errorf("%s did not end within %d s: %s", name, checkSeconds, text)
	case err != nil:
		return string(out), fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return string(out), nil
}

// writeFiles writes files, keyed by slash-separated paths, below dir. A path that leaves dir is an error.
func writeFiles(dir string, files map[string][]byte, mode os.FileMode) error {
	for name, content := range files {
		local := filepath.FromSlash(strings.TrimPrefix(name, "/"))
		if !filepath.IsLocal(local) {
			return fmt.Errorf("%q is not a path below the root", name)
		}
		path := filepath.Join(dir, local)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, mode); err != nil {
			return err
		}
	}
	return nil
}
