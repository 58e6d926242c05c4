package lint

// Leads are the rules that lead to others, for tests outside.
var Leads = leads
