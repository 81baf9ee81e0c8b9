package tlsout

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/internal/pemfile"
)

// watchPeriod is how often files are looked at.
const watchPeriod = time.Second

// Watch notices that files change, also by the swap of a link above them.
type Watch struct {
	Files   func() []string // those of the moment
	Changed func()
}

// Run calls Changed after each change of a file, until ctx ends.
func (w Watch) Run(ctx context.Context) {
	ticker := time.NewTicker(watchPeriod)
	defer ticker.Stop()
	before := stamps(w.Files())
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now := stamps(w.Files()); now != before {
			before = now
			w.Changed()
		}
	}
}

// stamps tell versions of files apart without reading them.
func stamps(files []string) string {
	var all strings.Builder
	for _, file := range files {
		info, err := os.Stat(pemfile.Path(file))
		if err != nil {
			fmt.Fprintf(&all, "%s: %v\n", file, err)
			continue
		}
		fmt.Fprintf(&all, "%s: %d %d %s\n", file, info.Size(), info.ModTime().UnixNano(), identity(info))
	}
	return all.String()
}
