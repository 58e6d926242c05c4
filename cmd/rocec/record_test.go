package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordPlace: the record is where the source says, with its variables.
func TestRecordPlace(t *testing.T) {
	keys := []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "TOKEN=hunter2"}
	lab := filepath.Join(t.TempDir(), "lab.json")
	if err := os.WriteFile(lab, []byte(`{"format_version": "1.0", "devices": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		record, where string
		env           []string
	}{
		"unwritten": {`{}`, filepath.Join("record", "default"), nil},
		"folder":    {`{ source = "there/${var.site}" }`, filepath.Join("there", "fra1", "default"), nil},
		"local":     {`{ backend = "local", source = "there" }`, filepath.Join("there", "prod"), []string{"ROCEC_WORKSPACE=prod"}},
		"http":      {`{ backend = "http", address = "https://gitlab.example.net/state/${var.site}-{workspace}", username_env = "TOKEN", password_env = "TOKEN" }`, "https://gitlab.example.net/state/fra1-prod", append(keys, "ROCEC_WORKSPACE=prod", "ROCEC_ALLOW_ENV=TOKEN")},
		"s3":        {`{ backend = "s3", bucket = "fabric", region = "eu-west-1", prefix = var.site }`, "https://fabric.s3.eu-west-1.amazonaws.com/fra1/default/", keys},
		"minio":     {`{ backend = "s3", bucket = "fabric", endpoint = "http://minio:9000", path_style = true }`, "http://minio:9000/fabric/default/", keys},
		"lab":       {`{ backend = "s3", bucket = "fabric" }`, filepath.Join("record", "lab"), []string{"ROCEC_LAB=" + lab}},
	} {
		t.Run(name, func(t *testing.T) {
			text := "variable \"site\" { default = \"fra1\" }\nrocec {\n  record = " + c.record + "\n}\n"
			p := loaded(t, text, c.env...)
			if p.diags.HasErrors() {
				t.Fatal(p.diags)
			}
			a := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{}, c.env)
			s, err := a.store(p)
			if err != nil {
				t.Fatal(err)
			}
			if s.Where() != c.where {
				t.Errorf("it is at %s, not %s", s.Where(), c.where)
			}
		})
	}
	a := newApp(strings.NewReader(""), &strings.Builder{}, &strings.Builder{}, nil)
	p := loaded(t, "rocec {\n  record = { backend = \"http\", address = \"https://a/b\", password_env = \"ROCEC_TOKEN\" }\n}\n")
	if _, err := a.store(p); err == nil || !strings.Contains(err.Error(), "ROCEC_TOKEN, which is not set") {
		t.Errorf("a variable that is not set: %v", err)
	}
}
