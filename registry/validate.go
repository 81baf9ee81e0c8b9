package registry

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// invalid is a registration that is refused, with the original's words.
type invalid string

func (e invalid) Error() string { return string(e) }

// validate checks a registration for the application of the path, in the order and
// with the texts of spec 1.4. It completes an Amazon instance that lacks its id.
func (r *Registry) validate(i *eureka.Instance, app string) error {
	switch {
	case blank(i.Identity()):
		return invalid("Missing instanceId")
	case blank(i.HostName):
		return invalid("Missing hostname")
	case blank(i.IPAddr):
		return invalid("Missing ip address")
	case blank(i.App):
		return invalid("Missing appName")
	case i.App != app:
		return invalid(fmt.Sprintf("Mismatched appName, expecting %s but was %s", app, i.App))
	case !i.DataCenter.Given():
		return invalid("Missing dataCenterInfo")
	case i.DataCenter.Name == "":
		return invalid("Missing dataCenterInfo Name")
	}
	if err := r.fits(i); err != nil {
		return err
	}
	if !i.DataCenter.Amazon() || i.DataCenter.Metadata[eureka.AmazonInstanceID] != "" {
		return nil
	}
	if r.settings.Leases.ValidateDataCenterID {
		return invalid("DataCenterInfo of type Amazon does not contain a valid id")
	}
	i.DataCenter.Metadata = maps.Clone(i.DataCenter.Metadata)
	if i.DataCenter.Metadata == nil {
		i.DataCenter.Metadata = map[string]string{}
	}
	i.DataCenter.Metadata[eureka.AmazonInstanceID] = i.Identity()
	return nil
}

// fits checks the size of an instance.
func (r *Registry) fits(i *eureka.Instance) error {
	if size, most := weight(i), r.settings.Limits.Instance; size > most {
		return invalid(fmt.Sprintf("Instance too large: %d bytes, at most %d", size, most))
	}
	return nil
}

// complete fills in what a registration may leave out: the time of its last change,
// and an id that the metadata has instead, as Spring's server reads it (spec 2.2).
func complete(i *eureka.Instance) {
	if i.LastDirty.IsZero() {
		i.LastDirty = time.Now().Round(0)
	}
	if id := i.Metadata["instanceId"]; i.ID == "" && id != "" {
		if !strings.HasPrefix(id, i.HostName) {
			id = i.HostName + ":" + id
		}
		i.ID = id
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// weight is roughly the memory that an instance takes.
func weight(i *eureka.Instance) int {
	n := len(i.ID) + len(i.App) + len(i.AppGroup) + len(i.HostName) + len(i.IPAddr) + len(i.VIPAddress) + len(i.SecureVIPAddress) +
		len(i.SID) + len(i.HomePageURL) + len(i.StatusPageURL) + len(i.HealthCheckURL) + len(i.SecureHealthCheckURL) + len(i.ASGName)
	for _, m := range []map[string]string{i.Metadata, i.DataCenter.Metadata} {
		for k, v := range m {
			n += len(k) + len(v)
		}
	}
	return n
}
