package main

import (
	"errors"
	"fmt"

	"github.com/rocec/rocec/lang"
	"github.com/rocec/rocec/lang/diag"
	"github.com/spf13/cobra"
)

func (a *app) consoleCommand() *cobra.Command {
	var in inputs
	var expr string
	c := &cobra.Command{
		Use: "console --expr=E", Short: "Evaluate an expression against the compiled fabric", Args: cobra.NoArgs,
		Example: `  rocec console --expr 'headroom({speed = "100G", length = "5m", mtu_rx = 9216, mtu_tx = 4200})'
  rocec console --expr 'length(links("node", "switch"))'`,
		RunE: func(*cobra.Command, []string) error {
			if expr == "" {
				return errors.New("give an expression: rocec console --expr='1 + 1'")
			}
			p, err := a.load(&in, true)
			if err != nil {
				return err
			}
			if p.diags.HasErrors() {
				a.print(p, atLeast(p.diags, diag.Error))
				return exit(1)
			}
			text, diags := lang.Console(p.cfg, expr, p.fabricView())
			if diags.HasErrors() {
				p.view.Read = func(name string) ([]byte, error) {
					if name == "console" {
						return []byte(expr), nil
					}
					return readFile(name)
				}
				diag.Text(a.err, diags, p.view, a.textOptions(a.err))
				return exit(1)
			}
			return a.object(map[string]string{"value": text}, func() error {
				_, err := fmt.Fprintln(a.out, text)
				return err
			})
		},
	}
	in.flags(c)
	c.Flags().StringVar(&expr, "expr", "", "the `EXPRESSION`")
	return c
}
