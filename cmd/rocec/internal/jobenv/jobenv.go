// Package jobenv reads the environment that NCCL and UCX are started with,
// from a file of NAME=VALUE lines or a shell script of exports, and says with
// which marks their RDMA traffic leaves a host. It expands nothing, runs nothing
// and knows nothing of a fabric: which class such a mark is, its caller knows.
package jobenv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Set are variables by name, with the lines they were last written in.
type Set map[string]Value

// Value is the text of a variable.
type Value struct {
	Text string
	Line int
}

// LineError is a line that sets a variable of NCCL or UCX in a way that cannot
// be read.
type LineError struct {
	Line int
	What string
}

// Error names the line.
func (e *LineError) Error() string { return fmt.Sprintf("line %d %s", e.Line, e.What) }

// Parse reads the variables of NCCL and UCX out of a file: lines of NAME=VALUE
// as systemd and containers take them, or assignments and exports of a shell,
// several in a line, with either kind of quotes. What else a script does is
// passed over; a line that touches such a variable otherwise is a *LineError.
func Parse(text []byte) (Set, error) {
	s := Set{}
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		at := i + 1
		line := lines[i]
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + lines[i]
		}
		if !ours(line) {
			continue
		}
		if err := s.line(line, at); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// ours reports whether a line may speak of what is looked for.
func ours(line string) bool {
	line = strings.TrimSpace(line)
	return !strings.HasPrefix(line, "#") && (strings.Contains(line, "NCCL_") || strings.Contains(line, "UCX_"))
}

// line reads the assignments of one line.
func (s Set) line(line string, at int) error {
	words, err := split(line)
	if err != nil {
		return &LineError{at, err.Error()}
	}
	begins := true // of a command: assignments may stand here
	for _, w := range words {
		switch {
		case w.ends:
			begins = true
			continue
		case begins && slices.Contains(before, w.raw):
			continue
		}
		name, value, ok := strings.Cut(w.text, "=")
		if !ok || !plainName(name) || !strings.HasPrefix(w.raw, name+"=") {
			if begins && wanted(w.text) {
				return &LineError{at, fmt.Sprintf("names %s and gives it no value", w.text)}
			}
			begins = false
			continue
		}
		if !wanted(name) {
			continue
		}
		if !begins {
			return &LineError{at, fmt.Sprintf("hands %s to a command: write it as %s=%s", name, name, value)}
		}
		if w.expands {
			return &LineError{at, fmt.Sprintf("gives %s a value that a shell works out: write the value", name)}
		}
		s[name] = Value{value, at}
	}
	return nil
}

// before are words of a shell after which assignments may stand.
var before = []string{"export", "declare", "typeset", "-x", "env", "then", "do", "else", "{", "("}

func wanted(name string) bool {
	return strings.HasPrefix(name, "NCCL_") || strings.HasPrefix(name, "UCX_")
}

func plainName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// word is one word of a line.
type word struct {
	text    string // without quotes
	raw     string // with them
	expands bool   // a shell would put something else in its place
	ends    bool   // it ends a command
}

// split takes a line apart as a shell does, as far as words and quotes go.
func split(line string) (words []word, err error) {
	var text, raw strings.Builder
	inWord, expands := false, false
	end := func() {
		if inWord {
			words = append(words, word{text: text.String(), raw: raw.String(), expands: expands})
		}
		text.Reset()
		raw.Reset()
		inWord, expands = false, false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == ' ' || c == '\t':
			end()
		case c == '#' && !inWord:
			end()
			return words, nil
		case c == ';' || c == '&' || c == '|':
			end()
			words = append(words, word{ends: true})
		case c == '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, fmt.Errorf("has a quote that does not end")
			}
			text.WriteString(line[i+1 : i+1+n])
			raw.WriteString(line[i : i+n+2])
			inWord, i = true, i+n+1
		case c == '"':
			inWord = true
			raw.WriteByte(c)
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\\\"$`", line[i+1]) >= 0 {
					raw.WriteByte(line[i])
					i++
				} else if line[i] == '$' || line[i] == '`' {
					expands = true
				}
				text.WriteByte(line[i])
				raw.WriteByte(line[i])
			}
			if i == len(line) {
				return nil, fmt.Errorf("has a quote that does not end")
			}
			raw.WriteByte('"')
		case c == '\\' && i+1 < len(line):
			raw.WriteByte(c)
			i++
			text.WriteByte(line[i])
			raw.WriteByte(line[i])
			inWord = true
		default:
			expands = expands || c == '$' || c == '`'
			text.WriteByte(c)
			raw.WriteByte(c)
			inWord = true
		}
	}
	end()
	return words, nil
}

// Traffic is one kind of packets that a library sends.
type Traffic struct {
	Library  string   // "NCCL"
	What     string   // "data", "control messages"
	ToS      uint8    // traffic class: the whole byte
	Priority uint8    // service level: the priority in a tag
	Because  []string // of which variables, and which defaults
	Devices  []string // names of RDMA devices, without ports; nil = all
	Except   bool     // Devices are those that are not used
	GIDIndex int      // -1 = the library picks one
}

// Libraries says what traffic the variables stand for: that of NCCL if there is
// one of NCCL among them, and that of UCX likewise. The error names the variable
// whose value a library would not take.
//
// Numbers and defaults: NCCL_IB_TC and NCCL_IB_SL are 0 by default, and -1 says
// as much; NCCL_IB_FIFO_TC speaks for control messages (NVIDIA NCCL user guide
// 2.28, environment variables; NVIDIA/nccl src/transport/net_ib.cc).
// UCX_IB_TRAFFIC_CLASS "auto" is 106 for RoCE v2, UCX_IB_SL "auto" is 0
// (openucx/ucx src/uct/ib/base/ib_iface.c).
func (s Set) Libraries() ([]Traffic, error) {
	var list []Traffic
	if s.any("NCCL_") {
		more, err := s.nccl()
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	if s.any("UCX_") {
		t, err := s.ucx()
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

func (s Set) any(prefix string) bool {
	for name := range s {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (s Set) nccl() ([]Traffic, error) {
	t := Traffic{Library: "NCCL", What: "data", GIDIndex: -1}
	tos, err := s.number(&t, "NCCL_IB_TC", 255, "-1", 0)
	if err != nil {
		return nil, err
	}
	sl, err := s.number(&t, "NCCL_IB_SL", 7, "-1", 0)
	if err != nil {
		return nil, err
	}
	t.ToS, t.Priority = uint8(tos), uint8(sl)
	if v, ok := s["NCCL_IB_GID_INDEX"]; ok && v.Text != "-1" {
		if t.GIDIndex, err = s.number(&t, "NCCL_IB_GID_INDEX", 255, "-1", 0); err != nil {
			return nil, err
		}
	}
	if v, ok := s["NCCL_IB_HCA"]; ok {
		names := v.Text
		names, t.Except = strings.CutPrefix(names, "^")
		t.Devices = devices(strings.TrimPrefix(names, "="))
		t.Because = append(t.Because, "NCCL_IB_HCA="+v.Text)
	}
	list := []Traffic{t}
	if v, ok := s["NCCL_IB_FIFO_TC"]; ok && v.Text != "-1" {
		control := t
		control.What, control.Because = "control messages", nil
		tos, err := s.number(&control, "NCCL_IB_FIFO_TC", 255, "-1", int(t.ToS))
		if err != nil {
			return nil, err
		}
		if control.ToS = uint8(tos); control.ToS != t.ToS {
			list = append(list, control)
		}
	}
	return list, nil
}

func (s Set) ucx() (Traffic, error) {
	t := Traffic{Library: "UCX", What: "data", GIDIndex: -1}
	tos, err := s.number(&t, "UCX_IB_TRAFFIC_CLASS", 255, "auto", 106)
	if err != nil {
		return t, err
	}
	sl, err := s.number(&t, "UCX_IB_SL", 7, "auto", 0)
	if err != nil {
		return t, err
	}
	t.ToS, t.Priority = uint8(tos), uint8(sl)
	if v, ok := s["UCX_IB_GID_INDEX"]; ok && v.Text != "auto" {
		if t.GIDIndex, err = s.number(&t, "UCX_IB_GID_INDEX", 255, "auto", 0); err != nil {
			return t, err
		}
	}
	if v, ok := s["UCX_NET_DEVICES"]; ok && v.Text != "all" {
		names := v.Text
		names, t.Except = strings.CutPrefix(names, "^")
		t.Devices = devices(names)
		t.Because = append(t.Because, "UCX_NET_DEVICES="+v.Text)
	}
	return t, nil
}

// number is the value of a variable, the default where it is not set or says so.
func (s Set) number(t *Traffic, name string, most int, byDefault string, otherwise int) (int, error) {
	v, ok := s[name]
	if !ok || v.Text == byDefault {
		t.Because = append(t.Because, fmt.Sprintf("%s is %d by default", name, otherwise))
		return otherwise, nil
	}
	n, err := strconv.ParseInt(v.Text, 0, 32)
	if err != nil || n < 0 || n > int64(most) {
		return 0, &LineError{v.Line, fmt.Sprintf("sets %s to %q, which is not a number from 0 to %d", name, v.Text, most)}
	}
	t.Because = append(t.Because, name+"="+v.Text)
	return int(n), nil
}

// devices are names without their ports.
func devices(list string) (names []string) {
	for _, n := range strings.Split(list, ",") {
		n, _, _ = strings.Cut(strings.TrimSpace(n), ":")
		if n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
