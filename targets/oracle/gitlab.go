package oracle

import (
	"path/filepath"
	"testing"
)

// gitlabPackages is the runner of GitLab: it holds a pipeline against the JSON schema that GitLab publishes and runs jobs as GitLab's
// documents say. Pinned to the last version that node 20 runs.
func gitlabPackages() npmPackages {
	return npmPackages{"gitlab", "ROCEC_GITLAB_DIR", map[string]string{"gitlab-ci-local": "4.61.1"}}
}

// GitLab runs the pipeline of the repository in dir, with the jobs on this machine, as gitlab-ci-local does (github.com/firecow/gitlab-ci-local):
// args are its own, env adds to the environment of jobs. The project's folder is dir itself. It returns what was printed, and an error where a job failed or the pipeline is none.
func GitLab(t testing.TB, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	Need(t, GitLabTool)
	folder, err := gitlabPackages().folder()
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{
		filepath.Join(folder, "node_modules", "gitlab-ci-local", "src", "index.js"), "--force-shell-executor", "--no-shell-isolation",
		"--variable", "CI_PROJECT_DIR=" + dir,
	}, args...)
	return run(dir, env, "node", args...)
}
