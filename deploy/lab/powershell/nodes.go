package powershell

// Node is a part of a script.
type Node any

type (
	// Literal is a string, a number or the name of a type.
	Literal struct{ Value any }
	// Var is a variable.
	Var struct{ Scope, Name string }
	// Unary is an operator before an expression.
	Unary struct {
		op string
		X  Node
	}
	// Comma is a list without brackets.
	Comma struct{ Items []Node }
	// Array is @( ).
	Array struct{ Body []Node }
	// Hash is @{ }.
	Hash struct{ Keys, Values []Node }
	// Block is a script, the body of a function or { }.
	Block struct {
		signature
		Body []Node
	}

	member struct {
		of   Node
		name string
		dyn  Node // .$field
		args []Node
		call bool
	}
	static struct {
		typ, name string
		args      []Node
		call      bool
	}
	index struct{ of, at Node }
	cast  struct {
		typ string
		x   Node
	}
	binary struct {
		op   string
		a, b Node
	}
	paren  struct{ body []Node }
	assign struct {
		to Node
		op string
		x  Node
	}
	pipe    struct{ parts []Node }
	command struct {
		name  string
		block Node // & $block
		args  []argument
		merge bool // 6>&1: what Write-Host says is output
	}
	argument struct {
		name  string // parameter
		value Node   // nil for a parameter without a colon
		splat string
	}
	branch struct {
		conds  []Node
		bodies [][]Node
		other  []Node
	}
	foreach struct {
		name string
		in   Node
		body []Node
	}
	while struct {
		cond Node
		body []Node
	}
	choice struct {
		on     Node
		cases  []Node
		bodies [][]Node
	}
	attempt struct {
		body, catch, finally []Node
		catches              bool // also when the block is empty
	}
	jump struct {
		word string
		x    Node
	}
	function struct {
		name string
		fn   *Block
	}
	// signature is what comes before the body of a script or function.
	signature struct {
		params []parameter
		asks   bool // SupportsShouldProcess: it takes -WhatIf
	}
	parameter struct {
		name, typ string
		value     Node
		mandatory bool
	}
)
