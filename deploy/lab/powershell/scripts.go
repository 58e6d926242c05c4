package powershell

import (
	"crypto/sha256"
	"sync"
)

// Scripts keeps scripts that were read, by their content. Hosts may share it.
type Scripts struct {
	mu   sync.Mutex
	list map[[sha256.Size]byte]*Block
}

// mostScripts is how many are kept: a kit has five.
const mostScripts = 64

// Parse is Parse, once for each text.
func (s *Scripts) Parse(src string) (*Block, error) {
	if s == nil {
		return Parse(src)
	}
	sum := sha256.Sum256([]byte(src))
	s.mu.Lock()
	b := s.list[sum]
	s.mu.Unlock()
	if b != nil {
		return b, nil
	}
	b, err := Parse(src)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil || len(s.list) >= mostScripts {
		s.list = map[[sha256.Size]byte]*Block{}
	}
	s.list[sum] = b
	return b, nil
}
