package fabric

// ConnectionID is the index of a connection block in Fabric.Ways. 0 = none.
type ConnectionID uint32

// Way is a connection block, not evaluated: that is done for one device.
type Way struct {
	Name    Str
	Address Str // `connection.tor`
	Decl    DeclID
}

// Connection is how a device is reached: a connection block, evaluated for the
// device. Secrets are named, never held.
type Connection struct {
	Name            string // of the block: `connection.tor`
	Address         string // never ""
	Port            uint16 // 0 = not written
	User            string
	Identity        []string // files of private keys; relative ones start at the folder of the configuration
	Agent           bool
	PasswordEnv     string
	PasswordCommand []string
	EnableEnv       string
	KnownHosts      []string // as Identity
	HostKey         string
	Legacy          bool         // SHA-1 too, for key exchange and integrity
	Jump            []Connection // the whole way, the nearest first; they have no Jump of their own
	Decl            DeclID
}

// Names of how artifacts get to a device.
const (
	SSH    = "ssh"    // rocec carries them
	Bundle = "bundle" // somebody does
)
