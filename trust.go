package gozer

import (
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
)

// maxHops is more than there are proxies in any row.
const maxHops = 64

// trust is nil if nobody is trusted.
func trust(cfg *config.Config) *filters.Trust {
	if len(cfg.Server.TrustedProxies) == 0 {
		return nil
	}
	return &filters.Trust{Proxies: cfg.Server.TrustedProxies, MaxHops: maxHops}
}
