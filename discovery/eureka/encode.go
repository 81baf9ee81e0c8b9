package eureka

import (
	"maps"
	"slices"
	"time"
)

const emptyMapClass = "java.util.Collections$EmptyMap"

// output is an object that a format writes, field by field.
type output interface {
	open(name string)
	typed(name, class string) // open, for what names its Java class
	close(name string)
	text(name, value string)
	entry(key, value string) // text with any key
	number(name string, n int64)
	stamp(name string, t time.Time)
	port(name string, p Port)
}

// fields writes the fields of an instance in the order of section 2.
type fields struct {
	output
	override string // name of the status override
	v1       bool
}

func (f fields) full(i *Instance) {
	f.textIf("instanceId", i.ID)
	f.textIf("hostName", i.HostName)
	f.text("app", i.App)
	f.textIf("ipAddr", i.IPAddr)
	f.textIf("sid", i.SID)
	f.text("status", f.status(i.Status))
	f.text(f.override, i.OverriddenStatus.String())
	f.port("port", i.Port)
	f.port("securePort", i.SecurePort)
	f.number("countryId", int64(i.country()))
	f.dataCenter(i.DataCenter, func(string) bool { return true })
	f.lease(i.Lease)
	f.metadata(i.Metadata, func(string) bool { return true })
	f.textIf("appGroupName", i.AppGroup)
	f.textIf("homePageUrl", i.HomePageURL)
	f.textIf("statusPageUrl", i.StatusPageURL)
	f.textIf("healthCheckUrl", i.HealthCheckURL)
	f.textIf("secureHealthCheckUrl", i.SecureHealthCheckURL)
	f.textIf("vipAddress", i.VIPAddress)
	f.textIf("secureVipAddress", i.SecureVIPAddress)
	f.text("isCoordinatingDiscoveryServer", boolText(i.CoordinatingDiscoveryServer))
	f.stampIf("lastUpdatedTimestamp", i.LastUpdated)
	f.stampIf("lastDirtyTimestamp", i.LastDirty)
	f.textIf("actionType", i.Action.String())
	f.textIf("asgName", i.ASGName)
}

func (f fields) compact(i *Instance) {
	f.textIf("instanceId", i.ID)
	f.text("app", i.App)
	f.textIf("ipAddr", i.IPAddr)
	f.textIf("vipAddress", i.VIPAddress)
	f.textIf("secureVipAddress", i.SecureVIPAddress)
	f.dataCenter(i.DataCenter, keptCompact)
	f.textIf("hostName", i.HostName)
	f.text("status", f.status(i.Status))
	if !i.LastUpdated.IsZero() {
		f.number("lastUpdatedTimestamp", i.LastUpdated.UnixMilli())
	}
	f.textIf("actionType", i.Action.String())
	f.textIf("asgName", i.ASGName)
	f.port("port", i.Port)
	f.port("securePort", i.SecurePort)
}

// keptCompact tells which of Amazon's metadata the compact form keeps.
func keptCompact(key string) bool {
	switch key {
	case AmazonInstanceID, AmazonAvailabilityZone, "public-ipv4", "public-hostname", "local-ipv4":
		return true
	}
	return false
}

func (f fields) status(s Status) string {
	if f.v1 && (s == OutOfService || s == Unknown) {
		s = Down
	}
	return s.String()
}

// textIf leaves an empty value out.
func (f fields) textIf(name, value string) {
	if value != "" {
		f.text(name, value)
	}
}

func (f fields) stampIf(name string, t time.Time) {
	if !t.IsZero() {
		f.stamp(name, t)
	}
}

// dataCenter writes class and name first, for readers that go by the order, and
// metadata for Amazon alone, since other readers refuse it.
func (f fields) dataCenter(d DataCenter, kept func(key string) bool) {
	if !d.Given() {
		return
	}
	class := defaultClass
	if d.Amazon() {
		class = amazonClass
	}
	f.typed("dataCenterInfo", class)
	f.textIf("name", d.Name)
	if d.Amazon() {
		f.open("metadata")
		f.entries(d.Metadata, kept)
		f.close("metadata")
	}
	f.close("dataCenterInfo")
}

func (f fields) metadata(m map[string]string, kept func(key string) bool) {
	if len(m) == 0 {
		f.typed("metadata", emptyMapClass)
	} else {
		f.open("metadata")
		f.entries(m, kept)
	}
	f.close("metadata")
}

func (f fields) entries(m map[string]string, kept func(key string) bool) {
	var few [16]string
	keys := slices.AppendSeq(few[:0], maps.Keys(m))
	slices.Sort(keys)
	for _, key := range keys {
		if kept(key) {
			f.entry(key, m[key])
		}
	}
}

func (f fields) lease(l Lease) {
	if !l.Given() {
		return
	}
	f.open("leaseInfo")
	f.number("renewalIntervalInSecs", int64(l.RenewalInterval/time.Second))
	f.number("durationInSecs", int64(l.Duration/time.Second))
	f.number("registrationTimestamp", millis(l.Registered))
	f.number("lastRenewalTimestamp", millis(l.Renewed))
	f.number("evictionTimestamp", millis(l.Evicted))
	f.number("serviceUpTimestamp", millis(l.ServiceUp))
	f.close("leaseInfo")
}

// millis is 0 for a time that has not come.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func (i *Instance) country() int {
	if i.CountryID == 0 {
		return DefaultCountryID
	}
	return i.CountryID
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
