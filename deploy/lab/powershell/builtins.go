package powershell

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Builtins are the names of the cmdlets that every host has, in lower case.
func Builtins() []string { return slices.Sorted(maps.Keys(builtins())) }

// builtins are the cmdlets that belong to the language rather than to a host.
func builtins() map[string]func(*Call) []any {
	all := ofPipeline()
	maps.Copy(all, ofHost())
	maps.Copy(all, ofFolders())
	maps.Copy(all, ofContent())
	return all
}

func ofPipeline() map[string]func(*Call) []any {
	return map[string]func(*Call) []any{
		"where-object": func(c *Call) (out []any) {
			c.r.each(c.block(), c.Input, func(item any, result []any) {
				if True(collect(result)) {
					out = append(out, item)
				}
			})
			return out
		},
		"foreach-object": func(c *Call) (out []any) {
			c.r.each(c.block(), c.Input, func(_ any, result []any) { out = append(out, result...) })
			return out
		},
		"sort-object": func(c *Call) []any {
			out := slices.Clone(c.Input)
			slices.SortStableFunc(out, order)
			return out
		},
		"select-object": func(c *Call) []any {
			switch {
			case c.Has("first"):
				return c.Input[:max(0, min(int(Int(c.Arg("first"))), len(c.Input)))]
			case c.Has("last"):
				return c.Input[len(c.Input)-max(0, min(int(Int(c.Arg("last"))), len(c.Input))):]
			}
			c.Mistake("Select-Object is known with -First and -Last only")
			return nil
		},
		"out-null": func(*Call) []any { return nil },
		"write-output": func(c *Call) []any {
			if c.Has("inputobject") {
				return Spread(c.Arg("inputobject"))
			}
			return c.Rest
		},
		"write-host": func(c *Call) []any {
			line := String(collect(c.Rest))
			if c.Has("object") {
				line = c.Str("object")
			}
			if n := len(c.r.merged); n > 0 {
				*c.r.merged[n-1] = append(*c.r.merged[n-1], line)
			} else {
				c.r.say(c.r.Say, line)
			}
			return nil
		},
		"convertto-json": func(c *Call) []any {
			if !c.Has("inputobject") {
				c.Mistake("ConvertTo-Json is known with -InputObject only: what is piped in loses its list")
			}
			depth := 2
			if c.Has("depth") {
				depth = int(Int(c.Arg("depth")))
			}
			text, err := toJSON(c.Arg("inputobject"), depth, c.Has("compress"))
			if err != nil {
				Throw("%v", err)
			}
			return []any{text}
		},
		"convertfrom-json": func(c *Call) []any {
			lines := c.Input
			if c.Has("inputobject") {
				lines = Spread(c.Arg("inputobject"))
			}
			var words []string
			for _, l := range lines {
				words = append(words, String(l))
			}
			text := strings.Join(words, "\n")
			x, err := FromJSON([]byte(text))
			if err != nil {
				panic(thrown{message: "Invalid JSON primitive: " + text[:min(len(text), 20)] + ".", id: "System.ArgumentException,Microsoft.PowerShell.Commands.ConvertFromJsonCommand"})
			}
			return []any{x}
		},
	}
}

func ofHost() map[string]func(*Call) []any {
	return map[string]func(*Call) []any{
		"set-strictmode": func(c *Call) []any {
			if n := c.Str("version"); n != "3" && n != "latest" {
				c.Mistake("strict mode is known as version 3 only, not %s", n)
			}
			return nil
		},
		"start-sleep": func(c *Call) []any {
			d := time.Duration(Int(c.Arg("seconds")))*time.Second + time.Duration(Int(c.Arg("milliseconds")))*time.Millisecond
			if err := c.r.Sleep(c.r.Ctx, d); err != nil {
				panic(ended{err})
			}
			return nil
		},
		"get-date": func(c *Call) []any { return []any{Time(c.r.Now())} },
		"set-executionpolicy": func(c *Call) []any {
			if !strings.EqualFold(c.Str("scope"), "Process") || !c.Has("executionpolicy") {
				c.Mistake("Set-ExecutionPolicy is known for -Scope Process only")
			}
			if !c.Has("force") {
				c.Mistake("Set-ExecutionPolicy asks without -Force")
			}
			return nil
		},
	}
}

func ofFolders() map[string]func(*Call) []any {
	return map[string]func(*Call) []any{
		"get-location": func(c *Call) []any { return []any{NewObject("Path", c.r.Dir)} },
		"set-location": func(c *Call) []any {
			to := c.r.Path(c.pathArgument())
			if dir, there := c.r.Files.Stat(to); !there || !dir {
				panic(thrown{message: "Cannot find path '" + to + "' because it does not exist.", id: "PathNotFound,Microsoft.PowerShell.Commands.SetLocationCommand"})
			}
			c.r.Dir = to
			return nil
		},
		"join-path": func(c *Call) []any {
			return []any{strings.TrimRight(c.Str("path"), `\`) + `\` + strings.TrimLeft(c.Str("childpath"), `\`)}
		},
		"split-path": func(c *Call) []any {
			if c.Has("leaf") {
				return []any{path.Base(strings.ReplaceAll(c.pathArgument(), `\`, "/"))}
			}
			return []any{parent(c.pathArgument())}
		},
		"test-path": func(c *Call) []any {
			_, there := c.r.Files.Stat(c.r.Path(c.pathArgument()))
			return []any{there}
		},
		"new-item": func(c *Call) []any {
			if !strings.EqualFold(c.Str("itemtype"), "Directory") {
				c.Mistake("New-Item makes folders only")
			}
			full, force := c.r.Path(c.Str("path")), c.Has("force")
			if c.Whether(full) {
				if _, there := c.r.Files.Stat(full); there && !force {
					panic(thrown{message: "An item with the specified name " + full + " already exists.", id: "DirectoryExist,Microsoft.PowerShell.Commands.NewItemCommand"})
				}
				c.r.check(c.r.Files.MkdirAll(full), full)
			}
			return []any{NewObject("FullName", full)}
		},
		"remove-item": func(c *Call) []any {
			full := c.r.Path(c.pathArgument())
			_ = c.Has("force") // of files that are hidden or read-only
			if !c.Whether(full) {
				return nil
			}
			recurse := c.Has("recurse")
			if dir, there := c.r.Files.Stat(full); there && dir && recurse {
				all, ok := c.r.Files.(Trees)
				if !ok {
					c.Mistake("Remove-Item removes no folders here")
				}
				c.r.check(all.RemoveAll(full), full)
				return nil
			} else if !there || dir {
				panic(thrown{message: "Cannot find path '" + full + "' because it does not exist.", id: "PathNotFound,Microsoft.PowerShell.Commands.RemoveItemCommand"})
			}
			c.r.check(c.r.Files.Remove(full), full)
			return nil
		},
	}
}

// byteOrderMark begins what -Encoding UTF8 writes in Windows PowerShell.
const byteOrderMark = "\ufeff"

func ofContent() map[string]func(*Call) []any {
	return map[string]func(*Call) []any{
		"set-content": func(c *Call) []any {
			full := c.r.Path(c.pathArgument())
			text := c.Str("value") + "\r\n"
			if strings.EqualFold(c.Str("encoding"), "UTF8") {
				text = byteOrderMark + text
			} else {
				text = strings.Map(func(r rune) rune {
					if r >= utf8.RuneSelf {
						return '?' // the code page may have it, or not
					}
					return r
				}, text)
			}
			if c.Whether(full) {
				c.r.check(c.r.Files.WriteFile(full, []byte(text)), full)
			}
			return nil
		},
		"get-content": func(c *Call) []any {
			raw, err := c.r.Files.ReadFile(c.r.Path(c.pathArgument()))
			c.r.check(err, c.pathArgument())
			text := decode(raw, c.Str("encoding"))
			if c.Has("raw") {
				return []any{text}
			}
			var out []any
			for line := range strings.Lines(text) {
				out = append(out, strings.TrimRight(line, "\r\n"))
			}
			return out
		},
		"import-powershelldatafile": func(c *Call) []any {
			text, err := c.r.Files.ReadFile(c.r.Path(c.pathArgument()))
			c.r.check(err, c.pathArgument())
			b, err := Parse(string(text))
			if err != nil {
				panic(thrown{message: "The data file '" + c.pathArgument() + "' could not be read.", id: "CouldNotParseAsPowerShellDataFile"})
			}
			if len(b.Body) != 1 || !isSafe(b.Body[0]) {
				panic(thrown{message: "Cannot generate a PowerShell object for a ScriptBlock evaluating dynamic expressions.", id: "ArgumentException", ends: true})
			}
			return []any{c.r.eval(b.Body[0])}
		},
	}
}

// decode is a file as Windows PowerShell reads it: without a byte order mark, and
// told no encoding, in the code page of the host.
func decode(raw []byte, encoding string) string {
	if text, marked := bytes.CutPrefix(raw, []byte(byteOrderMark)); marked {
		return string(text)
	}
	if strings.EqualFold(encoding, "UTF8") {
		return string(raw)
	}
	letters := make([]rune, len(raw))
	for i, b := range raw {
		letters[i] = rune(b)
	}
	return string(letters)
}

// Whether asks whether a cmdlet shall change something: not under -WhatIf.
func (c *Call) Whether(what string) bool {
	asked := True(c.r.lookup("", "whatifpreference"))
	if c.Has("whatif") {
		asked = True(c.Arg("whatif"))
	}
	if asked {
		c.r.say(c.r.Say, `What if: Performing the operation "`+c.Name+`" on target "`+what+`".`)
	}
	return !asked
}

// block is the script block that a cmdlet takes.
func (c *Call) block() *Block {
	if len(c.Rest) == 1 {
		if b, ok := c.Rest[0].(*Block); ok {
			return b
		}
	}
	c.Mistake("%s wants a script block", c.Name)
	return nil
}

func (c *Call) pathArgument() string {
	for _, name := range []string{"literalpath", "path"} {
		if c.Has(name) {
			return c.Str(name)
		}
	}
	if len(c.Rest) > 0 {
		return String(c.Rest[0])
	}
	return ""
}
