package fabric

// Connection is how a device is reached: a connection block, evaluated for the
// device. Secrets are named, never held.
type Connection struct {
	Name            string // of the block
	Address         string // "" only for none
	Port            uint16 // 0 = not written
	User            string
	Identity        []string // files of private keys
	Agent           bool
	PasswordEnv     string
	PasswordCommand []string
	EnableEnv       string
	KnownHosts      []string
	HostKey         string
	Jump            []Connection // the nearest first
	Decl            DeclID
}
