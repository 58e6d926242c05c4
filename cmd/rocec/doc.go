package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rocec/rocec/cmd/rocec/internal/document"
	"github.com/rocec/rocec/cmd/rocec/internal/picture"
	"github.com/rocec/rocec/deploy/disk"
	"github.com/spf13/cobra"
)

func (a *app) docCommand() *cobra.Command {
	in := &inputs{}
	var format, dir string
	c := &cobra.Command{
		Use: "doc", Short: "A document of the fabric, and lists of its cables", Args: cobra.NoArgs,
		Long: `Prints a description of the compiled fabric in Markdown: its devices, what each
traffic class is promised, segments, headroom and a bill of cables. With --out-dir
it writes fabric.md, cables.md (a list to tick, device by device), cables.csv (the
same for spreadsheets and ` + "`cabling`" + ` blocks), fabric.svg and cabling.svg.`,
		Example: "  rocec doc > fabric.md\n  rocec doc --out-dir=doc",
		RunE: func(*cobra.Command, []string) error {
			if err := oneOf("format", format, "markdown", "csv"); err != nil {
				return err
			}
			p, err := a.proven(in)
			if err != nil {
				return err
			}
			f := p.res.Fabric
			if dir == "" {
				if format == "csv" {
					return document.CablesCSV(a.out, f)
				}
				return document.Fabric(a.out, f, p.res.Facts)
			}
			return a.documents(p, dir)
		},
	}
	in.flags(c)
	c.Flags().StringVar(&format, "format", "markdown", "`FORMAT` on standard output: markdown; csv, which is the list of cables")
	c.Flags().StringVar(&dir, "out-dir", "", "write all documents and pictures into `DIR`")
	return c
}

// documents writes every document, each whole or not at all.
func (a *app) documents(p *project, dir string) error {
	f := p.res.Fabric
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{"fabric.md", func(w io.Writer) error { return document.Fabric(w, f, p.res.Facts) }},
		{"cables.md", func(w io.Writer) error { return document.CablesMarkdown(w, f) }},
		{"cables.csv", func(w io.Writer) error { return document.CablesCSV(w, f) }},
		{"fabric.svg", func(w io.Writer) error { return picture.SVG(w, f, picture.Options{}) }},
		{"cabling.svg", func(w io.Writer) error { return picture.SVG(w, f, picture.Options{Kind: picture.Cabling}) }},
	}
	if err := within(dir); err != nil {
		return err
	}
	return a.write(func() error {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		for _, file := range files {
			var b bytes.Buffer
			if err := file.write(&b); err != nil {
				return err
			}
			if err := disk.WriteFile(filepath.Join(dir, file.name), b.Bytes(), 0o666); err != nil {
				return fmt.Errorf("write %s: %w", file.name, err)
			}
		}
		if !a.quiet {
			fmt.Fprintf(a.out, "Wrote %s into %s.\n", count(len(files), "document"), dir)
		}
		return nil
	})
}
