// Package sonicyang holds SONiC's YANG models, as this folder has them. It takes
// nothing and returns their files. What they mean is left to those who read them.
package sonicyang

import "embed"

//go:embed *.yang
var files embed.FS

// Files are the models, one file a module.
func Files() embed.FS { return files }
