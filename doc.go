// Package rocec is the root of the module and holds no code. Its tests look at
// the whole: the examples compiled to artifacts, fabrics with one mistake each
// and the findings they yield, and the rules of the house.
//
// The program is cmd/rocec; lang, compiler, targets and deploy are its stages,
// in the order in which a configuration passes them.
package rocec
