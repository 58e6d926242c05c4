module github.com/rocec/rocec

go 1.26.0

require (
	github.com/agext/levenshtein v1.2.1 // distance behind "did you mean"
	github.com/apparentlymart/go-cidr v1.1.1 // cidrsubnet, cidrhost and cidrnetmask of the language
	github.com/aymanbagabas/go-udiff v0.4.1 // unified diffs that are shown
	github.com/evanphx/json-patch/v5 v5.9.11 // tests: applies the JSON patches that jsondiff makes
	github.com/gofrs/flock v0.13.1 // the lock of the record
	github.com/google/go-cmp v0.7.0 // tests: differences of values
	github.com/google/renameio/v2 v2.0.2 // files written whole or not at all
	github.com/hashicorp/hcl/v2 v2.25.0 // syntax and expressions of the language
	github.com/owenrumney/go-sarif/v3 v3.3.1 // the model of SARIF, a form of findings
	github.com/pkg/sftp v1.13.12 // files put on devices
	github.com/rogpeppe/go-internal v1.16.0 // tests: scripts of the command
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // tests: JSON against published schemas
	github.com/scrapli/scrapligo v1.4.3 // sessions of systems that have a prompt only
	github.com/spf13/cobra v1.10.2 // commands, help and completion
	github.com/spf13/pflag v1.0.9 // the flags below cobra, for the single dash
	github.com/vbauerster/mpb/v8 v8.9.3 // progress on a terminal
	github.com/wI2L/jsondiff v0.7.1 // RFC 6902 patches for SONiC
	github.com/zclconf/go-cty v1.19.0 // values and functions of the language
	go.yaml.in/yaml/v3 v3.0.6 // reads netplan; the oracle of the YAML writer
	golang.org/x/crypto v0.58.0 // SSH
	golang.org/x/mod v0.42.0 // tests: reads go.mod
	golang.org/x/sync v0.24.0 // errgroup: files parsed in parallel
	golang.org/x/sys v0.49.0 // file exchange and process checks of deploy
	golang.org/x/term v0.47.0 // is it a terminal, and how wide
	golang.org/x/text v0.43.0 // indirect; Unicode forms in functions and quoting
	golang.org/x/tools v0.52.0 // tests: txtar archives
	mvdan.cc/sh/v3 v3.14.1 // shell quoting; the parser of emitted scripts in tests
	pgregory.net/rapid v1.3.0 // tests: properties
)

require (
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/acarl005/stripansi v0.0.0-20180116102854-5a71ef0e047d // indirect
	github.com/apparentlymart/go-textseg/v15 v15.0.0 // indirect
	github.com/apparentlymart/go-textseg/v17 v17.0.1 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/creack/pty v1.1.24 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/kr/fs v0.1.0 // indirect
	github.com/mattn/go-runewidth v0.0.24 // indirect
	github.com/mitchellh/go-wordwrap v1.0.1 // indirect
	github.com/sirikothe/gotextfsm v1.0.1-0.20200816110946-6aa2cfd355e4 // indirect
	github.com/tidwall/gjson v1.18.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/xeipuuv/gojsonpointer v0.0.0-20180127040702-4e3ac2762d5f // indirect
	github.com/xeipuuv/gojsonreference v0.0.0-20180127040603-bd5ef7bd5415 // indirect
	github.com/xeipuuv/gojsonschema v1.2.0 // indirect
)
