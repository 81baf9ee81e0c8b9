package eureka

import (
	"maps"
	"strings"
	"time"
)

// What an instance has that says nothing of them (section 2.2).
const (
	DefaultPort       = 7001 // enabled
	DefaultSecurePort = 7002 // disabled
	DefaultCountryID  = 1
)

// Instance is one process of an application as a registry knows it. Once it is in an
// [Applications] or has been handed to another goroutine it is read-only; [Instance.Clone]
// makes one to change.
type Instance struct {
	// ID is instanceId as sent; it may be empty, see Identity.
	ID string
	// App is the application's name, in upper case.
	App string
	// AppGroup is in upper case, "" without one.
	AppGroup string
	HostName string
	IPAddr   string
	// VIPAddress and SecureVIPAddress are names between commas, the case kept.
	VIPAddress, SecureVIPAddress string
	// SID is deprecated; "" stands for the usual "na".
	SID              string
	Port, SecurePort Port
	CountryID        int // 0 is sent as DefaultCountryID
	// DataCenter is zero when the sender left it out, which a registry refuses.
	DataCenter DataCenter
	// HomePageURL and the other URLs are absolute, "" without one.
	HomePageURL, StatusPageURL           string
	HealthCheckURL, SecureHealthCheckURL string
	Status                               Status
	OverriddenStatus                     Status // Unknown without an override
	// Lease is zero when the sender left it out; see Lease.Given.
	Lease Lease
	// Metadata may be nil.
	Metadata map[string]string
	// CoordinatingDiscoveryServer marks the entry of the registry that answers.
	CoordinatingDiscoveryServer bool
	// LastUpdated is the registry's time of the last change, LastDirty the instance's own, which
	// orders versions of it everywhere. The zero time means that the sender left it out: a
	// registry then takes its own time. Something unreadable counts as the epoch.
	LastUpdated, LastDirty time.Time
	// Action says what a delta does with the instance.
	Action  Action
	ASGName string
}

// Port is a port that may be switched off.
type Port struct {
	Number  int
	Enabled bool
}

// Identity is what tells instances apart (section 3.1): the id, else Amazon's
// instance id, else the host name.
func (i *Instance) Identity() string {
	if i.ID != "" {
		return i.ID
	}
	if id := i.DataCenter.Metadata[AmazonInstanceID]; i.DataCenter.Amazon() && id != "" {
		return id
	}
	return i.HostName
}

// Clone copies the instance with its maps.
func (i *Instance) Clone() *Instance {
	c := *i
	c.Metadata = maps.Clone(i.Metadata)
	c.DataCenter.Metadata = maps.Clone(i.DataCenter.Metadata)
	return &c
}

// HasVIP reports whether name is one of the names of VIPAddress, whatever the case.
func (i *Instance) HasVIP(name string) bool { return anyName(i.VIPAddress, name) }

// HasSecureVIP reports the same of SecureVIPAddress.
func (i *Instance) HasSecureVIP(name string) bool { return anyName(i.SecureVIPAddress, name) }

func anyName(list, name string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if strings.EqualFold(strings.TrimSpace(one), name) {
			return true
		}
	}
	return false
}

// The names of a data centre.
const (
	MyOwn   = "MyOwn"
	Netflix = "Netflix"
	Amazon  = "Amazon"
)

// Keys of the metadata of an Amazon data centre.
const (
	AmazonInstanceID       = "instance-id"
	AmazonAvailabilityZone = "availability-zone"
)

// DataCenter says where an instance runs. A sender that gave one without a name
// leaves Class only.
type DataCenter struct {
	Name string // MyOwn, Netflix or Amazon
	// Class is the Java class that the sender named; encoders derive it from Name.
	Class string
	// Metadata is nil unless Name is Amazon.
	Metadata map[string]string
}

// Given reports whether the sender named a data centre at all.
func (d DataCenter) Given() bool { return d.Name != "" || d.Class != "" }

// Amazon reports whether the data centre is Amazon's.
func (d DataCenter) Amazon() bool { return d.Name == Amazon }

// What a lease lasts unless the instance says otherwise.
const (
	DefaultRenewalInterval = 30 * time.Second
	DefaultLeaseDuration   = 90 * time.Second
)

// Lease is leaseInfo. Times that have not come are zero. An instance asks for
// RenewalInterval and Duration; the rest is the registry's.
type Lease struct {
	RenewalInterval, Duration               time.Duration
	Registered, Renewed, Evicted, ServiceUp time.Time
}

// Given reports whether there was a leaseInfo; decoders fill in its durations.
func (l Lease) Given() bool { return l.Duration > 0 }
