package upstream

import "github.com/gozer-gateway/gozer/internal/netlog"

// quiet is an error of net/http's, which quotes what a server has sent and would bring it
// into the log.
type quiet struct{ error }

func (e quiet) Error() string { return netlog.Unquoted(e.error.Error()) }
func (e quiet) Unwrap() error { return e.error }
