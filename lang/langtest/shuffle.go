// Package langtest rearranges source for tests: what it returns means the same
// in another order. It takes source text, and knows nothing of its meaning.
package langtest

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
)

// Shuffle returns the blocks of a file, each as a file of its own, with the
// blocks inside of them in another order; waves of a rollout keep theirs, which is
// what they say. Perm gives a permutation of 0 to n-1, as rand.Rand.Perm does.
func Shuffle(src []byte, name string, perm func(n int) []int) ([][]byte, error) {
	file, diags := hclwrite.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	var parts [][]byte
	for _, b := range file.Body().Blocks() {
		if b.Type() != "rollout" {
			shuffle(b.Body(), perm)
		}
		one := hclwrite.NewEmptyFile()
		one.Body().AppendBlock(b)
		parts = append(parts, one.Bytes())
	}
	return parts, nil
}

// shuffle puts the blocks of a body, and those in them, into another order.
func shuffle(body *hclwrite.Body, perm func(n int) []int) {
	blocks := body.Blocks()
	for _, b := range blocks {
		body.RemoveBlock(b)
	}
	for _, i := range perm(len(blocks)) {
		shuffle(blocks[i].Body(), perm)
		body.AppendBlock(blocks[i])
	}
}
