package windows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// state is the read-back that capture.ps1 prints (Read-State of
// engine/state.ps1); the names are those of the CIM classes.
type state struct {
	Schema          int
	Computer        text
	Domain          text
	Adapters        rows[adapterRow]
	Hardware        rows[hardwareRow]
	Properties      rows[propertyRow]
	Policies        rows[policyRow]
	FlowControl     rows[flowControlRow]
	TrafficClasses  rows[classRow]
	Dcbx            rows[dcbxRow]
	AdapterQos      rows[adapterQosRow]
	AdapterRdma     rows[adapterRdmaRow]
	Addresses       rows[addressRow]
	Interfaces      rows[interfaceRow]
	Routes          rows[routeRow]
	SmbLimits       rows[smbLimitRow]
	Switches        rows[switchRow]
	HostAdapters    rows[hostAdapterRow]
	MigrationOption text
	Cluster         text
	Intents         rows[intentRow]
	IntentStatus    rows[statusRow]
	GlobalOverrides rows[overrideRow]
}

type adapterRow struct {
	Name                 text
	InterfaceAdminStatus number
	PermanentAddress     text
	ReceiveLinkSpeed     number
	DriverVersionString  text
}

type hardwareRow struct {
	Name                                                   text
	SegmentNumber, BusNumber, DeviceNumber, FunctionNumber number
}

type propertyRow struct {
	Name, RegistryKeyword text
	RegistryValue         rows[text]
}

type policyRow struct {
	Name                        text
	Template                    text
	NetDirectPortMatchCondition number
	IPProtocolMatchCondition    text
	IPPortMatchCondition        number
	PriorityValue8021Action     number
	DSCPAction                  number
	OtherMatchConditions        rows[text]
	OtherActions                rows[text]
}

type flowControlRow struct {
	Priority number
	Enabled  bool
}

type classRow struct {
	Name, Algorithm     text
	BandwidthPercentage number
	Priority            rows[number]
}

type dcbxRow struct {
	InterfaceAlias text
	Willing        bool
}

type adapterQosRow struct {
	Name                           text
	Enabled                        bool
	PriorityFlowControlEnableArray rows[bool]
	// By priority its class, and by class its share in percent and its scheduler.
	PriorityAssignmentTable, BandwidthAssignmentTable, TsaAssignmentTable rows[number]
}

type adapterRdmaRow struct {
	Name           text
	Enabled        bool
	RdmaTechnology number
}

type addressRow struct {
	InterfaceAlias, IPAddress, PrefixOrigin text
	PrefixLength                            number
}

type interfaceRow struct {
	InterfaceAlias, AddressFamily text
	NlMtu                         number
}

type routeRow struct {
	InterfaceAlias, NextHop text
}

type smbLimitRow struct {
	Category       text
	BytesPerSecond number
}

type switchRow struct {
	Name                   text
	EmbeddedTeamingEnabled bool
	Members                rows[text]
}

type hostAdapterRow struct {
	Name, SwitchName, NetAdapterName text
	IeeePriorityTag                  text
	AccessVlanId                     number
	DefaultIsolationID               number
}

type intentRow struct {
	Name      text
	Types     rows[text]
	Adapters  rows[text]
	Overrides rows[overrideRow]
}

type overrideRow struct {
	Kind, Name, Value text
}

type statusRow struct {
	IntentName, Host, ConfigurationStatus, Error text
}

// decode reads a capture. Windows PowerShell writes what is redirected to a
// file as UTF-16 with a byte order mark.
func decode(b []byte) (*state, error) {
	s := new(state)
	return s, decodeInto(b, s)
}

// decodeInto reads a capture as a state, and as what else is in it.
func decodeInto(b []byte, s *state, more ...any) error {
	switch {
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}):
		units := make([]uint16, 0, len(b)/2)
		for i := 2; i+1 < len(b); i += 2 {
			units = append(units, uint16(b[i])|uint16(b[i+1])<<8)
		}
		b = []byte(string(utf16.Decode(units)))
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		b = b[3:]
	}
	for _, into := range append(more, s) {
		if err := json.Unmarshal(b, into); err != nil {
			return err
		}
	}
	if s.Schema != 1 {
		return fmt.Errorf("schema is %d, not 1", s.Schema)
	}
	return nil
}

// rows is a list. ConvertTo-Json of 5.1 writes some as {"value":[...],"Count":n}
// and others, of one element, as that element.
type rows[T any] []T

// UnmarshalJSON takes the three forms, and null for none.
func (r *rows[T]) UnmarshalJSON(b []byte) error {
	*r = nil
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if b[0] == '{' {
		var wrapped struct {
			Value *json.RawMessage `json:"value"`
			Count *int             `json:"Count"`
		}
		if err := json.Unmarshal(b, &wrapped); err == nil && wrapped.Value != nil && wrapped.Count != nil {
			b = *wrapped.Value
		}
	}
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	if b[0] == '[' {
		var list []T
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		*r = list
		return nil
	}
	var one T
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*r = []T{one}
	return nil
}

// text is a string, or what an enumeration became in JSON.
type text string

// UnmarshalJSON takes a string, a number, a truth value or null.
func (t *text) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(t))
	case '{', '[':
		return fmt.Errorf("%.40s is no text", b)
	}
	*t = text(strings.Trim(string(b), " \t\r\n"))
	if *t == "null" {
		*t = ""
	}
	return nil
}

// number is an integer; a string of digits counts, null is 0.
type number int64

// UnmarshalJSON takes a number, a string with a number, or null.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = 0
	if bytes.Equal(b, []byte("null")) {
		return nil
	}
	var s string
	if b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		if s == "" {
			return nil
		}
		b = []byte(s)
	}
	return json.Unmarshal(b, (*int64)(n))
}

func sameName(a text, b string) bool { return strings.EqualFold(string(a), b) }
