package registry

import (
	"fmt"
	"io"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// Export writes the list for the registry that takes the place of this one.
func (r *Registry) Export(w io.Writer) error {
	return eureka.Encoder{Format: eureka.JSON}.WriteApplications(w, r.full(nil))
}

// Import reads what Export has written, and returns how many instances there were. It is
// called before Run, which then asks no peer: the list is as good as theirs. The
// leases begin anew.
func (r *Registry) Import(from io.Reader) (int, error) {
	list, err := eureka.Decoder{Format: eureka.JSON, Limits: eureka.Limits{Bytes: r.settings.Limits.Batch}}.Applications(from)
	if err != nil {
		return 0, fmt.Errorf("registry: the predecessor's list: %w", err)
	}
	r.imported = true
	return r.registerAll(list), nil
}

// Ready is closed once the list is complete, or believed to be.
func (r *Registry) Ready() <-chan struct{} { return r.ready }

// EndPush ends the streams of changes for good, so that their readers go elsewhere.
func (r *Registry) EndPush() { r.push.end() }
